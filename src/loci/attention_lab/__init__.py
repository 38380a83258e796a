"""The attention lab: what attention can and cannot do, as pure functions whose docstrings carry the derivation.

Closed forms, numpy only: `distribution`, `constructions`, `perturbation`, `temperature`, `folding`.
Self-attention built to order: `symbols`, `design`, `solver`.
Attention against syntax: `parses`, `conllu`, `trees`, `heads`, and `head_reading`, which runs a model over sentences.
Inside one model: `rollout`, `lens`, `tracing`, gathered by `looking`; `interventions`; `qk_spectra`.
Repetition: `generators`, `repetition_sweep`. Training: `short_runs`.
The exercises of `loci lab`: `catalogue`, `exercises`.
"""
