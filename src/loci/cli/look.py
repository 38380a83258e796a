"""See inside one answer: where every head looks, what every layer would say, which state carries the answer.

examples:
  loci look run "Where was Lalita Dalal born?"
  loci look run "Where was Lalita Dalal born?" --answer Mumbai --out look.html
"""

from __future__ import annotations

from pathlib import Path


def look(
    run: Path,
    question: str,
    /,
    *,
    answer: str | None = None,
    subject: str | None = None,
    draws: int = 8,
    seed: int = 0,
    out: Path = Path("look.html"),
    json: bool = False,
) -> None:
    """Ask one question and write the page.

    Args:
        run: The run that is asked.
        question: The question.
        answer: Look at this answer instead of the model's own. An imported model needs it: it cannot be asked.
        subject: The name in the question, where the question has another form than those the run was trained on.
        draws: How many draws of noise corrupt the name for causal tracing.
        seed: Where that noise starts.
        out: Where the page goes.
        json: Print JSON instead of sentences.
    """
    import torch

    from loci.answering.answer import Answer
    from loci.answering.answerer import make_answerer
    from loci.attention_lab.looking import look as look_at
    from loci.cli.output import print_json
    from loci.report.attention.look_page import look_page
    from loci.text.questions import Question, Questions
    from loci.training.checkpoint import load_model

    loaded = load_model(run)
    if loaded.vocab.layout == "loci":
        (found,) = make_answerer(loaded).answer(Questions(None, (Question(question, (), subject, 1),)))
    else:  # a model from elsewhere is not asked; what it is to have said is given
        found = Answer(question, subject, None, answer or "", 0.0, 0.0, False)
    generator = torch.Generator().manual_seed(seed)
    view = look_at(loaded.model, loaded.vocab, found, generator=generator, given=answer, subject=subject, draws=draws)
    written = look_page(view, run.name).write(out)
    trace, corrupted = view.trace, float(view.trace.corrupted.mean())
    if json:
        causal_trace = {
            "log_probability": {"clean": trace.clean, "corrupted": corrupted},
            "effect": trace.effect(trace.restored).tolist(),
            "group_effect": dict(zip(trace.groups, trace.effect(trace.restored_groups).T.tolist(), strict=True)),
            "draws": len(trace.corrupted),
        }
        said = {name: getattr(view, name) for name in ("recited", "answer", "probability")}
        named = {"subject": "".join(view.symbols[slice(*view.subject)]), "appears": view.lens.appears}
        print_json({"question": question, **said, **named, "causal_trace": causal_trace, "page": out})
        return
    if view.recited is not None:
        print(f"recites: {view.recited}")
    print(f"{view.answer or '(nothing)'}  probability {view.probability:.3g}")
    told = " ".join(
        f"{symbol}:{'–' if layer is None else layer}"
        for symbol, layer in zip(view.answer_symbols, view.lens.appears, strict=True)
    )
    print(f"from which block each character stays on top (0 is the embedding): {told}")
    print(
        f"with noise on the name the log-probability of its first character is {corrupted:.2f}, not {trace.clean:.2f}"
    )
    print(written)
