"""The attention lab: what attention can and cannot do, as pure functions whose docstrings carry the derivation.

Closed forms, numpy only: `distribution`, `perturbation`, `scaling`.
Self-attention built to order: `design`, `solver`.
Attention against syntax: `parses`, `trees`, `heads`, and `head_reading`, which runs a model over sentences.
Inside one model: `looking`, `interventions`, `qk_spectra`.
Repetition: `repetition_sweep`. Training: `short_runs`.
The exercises of `loci lab`: `catalogue`, `exercises`.
"""
