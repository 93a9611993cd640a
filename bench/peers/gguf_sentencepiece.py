"""
A GGUF file with a SentencePiece tokenizer and the ids that SentencePiece itself gives, for test/engine/local/gguf.test.ts.

    python -m venv .venv && .venv/bin/pip install sentencepiece gguf numpy
    .venv/bin/python bench/peers/gguf_sentencepiece.py

Under test/engine/local/fixtures/gguf:

    sentencepiece.gguf   tokenizer and chat template of a BPE with byte fallback, as llama.cpp's converter writes Llama 2's; no tensors
    sentencepiece.json   texts with their ids
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import gguf
import sentencepiece

ROOT = Path(__file__).parents[2]
OUT = ROOT / "test/engine/local/fixtures/gguf"
TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}"
    "{% if m.role == 'user' %}[INST] {{ m.content }} [/INST]{% else %} {{ m.content }} {{ eos_token }}{% endif %}"
    "{% endfor %}"
)
TEXTS = [
    "an agent learns from feedback",
    " two  spaces   at the start, and a\ttab\nand a line",
    "numbers 2026 and 3.14",
    "猫 and émigré 🙂",
    "trailing space ",
    "",
    "<unk> <s> </s> are text here",
    "▁",
]


def main() -> None:
    with TemporaryDirectory() as folder:
        prefix = Path(folder) / "model"
        sentencepiece.SentencePieceTrainer.train(
            input=[str(ROOT / "docs/architecture.md"), str(ROOT / "docs/feedback.md"), str(ROOT / "docs/glossary.md")],
            model_prefix=str(prefix),
            model_type="bpe",
            vocab_size=700,
            byte_fallback=True,
            split_digits=True,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            character_coverage=0.999,
        )
        model = sentencepiece.SentencePieceProcessor(model_file=str(prefix) + ".model")
    kinds = []
    for id in range(model.vocab_size()):
        kind = gguf.TokenType.NORMAL
        if model.is_unknown(id):
            kind = gguf.TokenType.UNKNOWN
        elif model.is_control(id):
            kind = gguf.TokenType.CONTROL
        elif model.is_byte(id):
            kind = gguf.TokenType.BYTE
        kinds.append(kind)
    writer = gguf.GGUFWriter(OUT / "sentencepiece.gguf", "llama")
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list([model.id_to_piece(id) for id in range(model.vocab_size())])
    writer.add_token_scores([model.get_score(id) for id in range(model.vocab_size())])
    writer.add_token_types(kinds)
    writer.add_bos_token_id(model.bos_id())
    writer.add_eos_token_id(model.eos_id())
    writer.add_unk_token_id(model.unk_id())
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(True)
    writer.add_chat_template(TEMPLATE)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    texts = [{"text": text, "ids": model.encode(text)} for text in TEXTS]
    (OUT / "sentencepiece.json").write_text(json.dumps(texts, ensure_ascii=False, indent=1) + "\n")


main()
