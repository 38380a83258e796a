"""The written exercises, carried out: the lab's functions turned into results that can be printed and drawn."""
