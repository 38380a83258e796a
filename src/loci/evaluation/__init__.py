"""Judging answers: rows, metrics, statistics, calibration, kinds of errors, bias. Pure functions of rows."""
