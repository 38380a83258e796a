"""The attention lab: what attention can and cannot do, as pure functions whose docstrings carry the derivation.

`distribution`, `constructions`, `perturbation`, `temperature`, `folding`: closed forms, numpy only. `design`, `solver`:
self-attention built to order. `parses`, `trees`, `heads`: attention against syntax. `states`, `rollout`, `lens`,
`tracing`: what happens inside one model. `catalogue`: the experiments of `loci lab`.
"""
