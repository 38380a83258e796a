"""The command lines that are fuzzed: each command with flags of every kind, on the files of the home folder.

A number before a line: after so many seconds a command that works as long as it is asked to gets a ctrl-C. A new
command is a line here; `test_registered.py` asks for it.
"""

from __future__ import annotations

LINES = r"""
1 demo --out demo --quick --seed 1
1 demo --out experiment --quick
world --out new --people 12 --seed 3 --conllu --jsonl
world --out new --kind products --people 9 --paraphrases 2 --json
world --out world --force --people 15 --relations birthplace employer:3:0.1
check world --repair clean --block-size 64
check own/train.tsv --corpus world/wiki.txt --template 'Who wrote {subject}?' --all --json
check formats/text.txt --all
1 learn world --out new --recipe self-training --seed 2 --set model.n_layer=1
1 train --recipe demo --data world --out new --set pretrain.steps=2 --set pretrain.batch_size=2 --set model.n_layer=1 --set model.n_embd=16 --threads 1
1 train --corpus world/wiki.txt --out new --recipe char --characters 900 --threads 1
1 train --resume --out half --threads 1
evaluate run --questions world/birth_dev.tsv --alternatives 2 --calibrate
evaluate --predictions theirs.tsv --questions asked.tsv --out out.jsonl --json
evaluate run --questions own/train.tsv --out rows.jsonl --text said.txt
consolidate run
export run new --to hf
export run new --to course
import hf new --kind hf
import nano/ckpt.pt new --kind nanogpt
runs . --json
runs .
sample run --prompt Ana --length 20 --temperature 0.8 --top-k 5 --top-p 0.9
sample run --samples 2 --length 9 --min-p 0.1 --repetition-penalty 1.2 --context 32 --json
cost rope --length 64 --vocab-size 50 --n-layer 2 --batch 2
cost --json --n-head 4 --n-embd 64 --bottleneck-dim 8 --dropout 0
ask run 'Where was Ana Lima born?' 'Where was she born?' --threshold 0.1 --lines 2
ask run --file world/birth_dev.tsv --alternatives 3 --json --corpus world/wiki.txt
ask run --candidates groups.tsv --history asked.tsv
ask run 'Where was Ana born?' --server http://127.0.0.1:9 --token x
report run rows.jsonl --out report.html --corpus world/wiki.txt --groups groups.tsv
report rows.jsonl --train asked.tsv --places world/people.jsonl --seed 2 --json
2 web run --port 0 --no-browser --out web-runs --queue 4
experiment --json
1 experiment abstain --quick --out experiment --seeds 1
1 experiment recall --quick --data world --out new
lab
1 lab solve --inputs 'd+b, a, c+b' --outputs '2=b, 1=b-c' --out lab
1 lab parse --conllu bank.conllu --sentence 2 --json
1 lab folding --run run --questions asked.tsv --seed 1
heads run --conllu world/wiki.conllu --limit 5 --least 1 --seeds 1 --out heads.html
look run 'Where was Ana Lima born?' --answer Porto --subject 'Ana Lima' --draws 2 --out look.html
1 repetition run --text world/wiki.txt --samples 1 --length 12 --n 3 --out r.html
1 repetition --text formats/text.txt --order 3 --samples 2 --length 20 --prompt Ana --json
1 doctor --json
1 bench --folder own --only nothing --quick
course london --eval_corpus_path world/birth_dev.tsv --place Oslo
course dataset charcorruption --pretrain_corpus_path world/wiki.txt --examples 2 --seed 1
course dataset namedata --pretrain_corpus_path world/wiki.txt --finetune_corpus_path own/train.tsv
course grade theirs.tsv groups.tsv --gold asked.tsv --corpus world/wiki.txt --json
course import vanilla world/wiki.txt --reading_params_path tiny.params --out new
course export run --writing_params_path new.params
1 course evaluate rope world/wiki.txt --reading_params_path tiny.params --eval_corpus_path asked.tsv
1 course pretrain vanilla world/wiki.txt --writing_params_path new.params --max_epochs 1
1 course finetune vanilla world/wiki.txt --writing_params_path new.params --finetune_corpus_path own/train.tsv --max_epochs 1
1 course folds vanilla world/wiki.txt --reading_params_path tiny.params --finetune_corpus_path world/birth_places_train.tsv --out folds
"""
TYPED = "Where was Ana born?\n\x1b[A\n"
"""What is typed where a command asks."""
