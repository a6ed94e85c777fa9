"""The whole of LightRAG with this storage, and with stand-ins for its models that need no network: documents come in, entities are found, renamed, merged
and removed, a question is answered. It takes `pip install lightrag-hku` with all that this wants, and the database that libpq's environment names.

A real model goes where `find_entities` and `embed` are. The last line is "lightrag example: N passed, N failed".
"""

import asyncio
import hashlib
import re
import sys
import tempfile

import numpy
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc, Tokenizer

import emogi_storage

DOCUMENTS = {"first": "Ann knows Bo. Bo knows Cy.", "second": "Cy knows Di. Ann knows Bo."}
counts = {"passed": 0, "failed": 0}


def check(what, got, expected):
    counts["passed" if got == expected else "failed"] += 1
    if got != expected:
        print(f"{what} FAILED: got {got!r}, expected {expected!r}")


class Letters:
    """A tokenizer by letters, for that of LightRAG is downloaded."""

    def encode(self, content):
        return [ord(letter) for letter in content]

    def decode(self, tokens):
        return "".join(map(chr, tokens))


async def find_entities(prompt, system_prompt=None, history_messages=(), **_):
    """Answer as a model would that finds who knows whom, the keywords of a question, and nothing more when it is asked again."""
    if "high_level_keywords" in prompt + (system_prompt or ""):
        return '{"high_level_keywords": ["acquaintance"], "low_level_keywords": ["Ann", "Bo"]}'
    rows = []
    for one, other in [] if history_messages else re.findall(r"([A-Z][a-z]+) knows ([A-Z][a-z]+)", prompt):
        rows += [f"entity<|#|>{name}<|#|>person<|#|>{name} is a person" for name in (one, other)]
        rows.append(f"relation<|#|>{one}<|#|>{other}<|#|>acquaintance<|#|>{one} knows {other}")
    return "\n".join(rows + ["<|COMPLETE|>"])


async def embed(texts):
    return numpy.array([[byte / 255 for byte in hashlib.blake2b(text.encode(), digest_size=32).digest()] for text in texts])


async def main(folder):
    emogi_storage.register()
    rag = LightRAG(working_dir=folder, workspace="example", graph_storage="EmogiGraphStorage", llm_model_func=find_entities,
                   embedding_func=EmbeddingFunc(embedding_dim=32, max_token_size=1000, func=embed), tokenizer=Tokenizer("letters", Letters()))
    await rag.initialize_storages()
    graph = rag.chunk_entity_relation_graph
    await graph.drop()

    await rag.ainsert(list(DOCUMENTS.values()), ids=list(DOCUMENTS))
    check("the storage", type(graph).__name__, "EmogiGraphStorage")
    check("entities", await rag.get_graph_labels(), ["Ann", "Bo", "Cy", "Di"])
    around = await rag.get_knowledge_graph("Ann", max_depth=2)
    check("around Ann", (sorted(node.id for node in around.nodes), [(edge.source, edge.target) for edge in around.edges]), (["Ann", "Bo", "Cy"], [("Ann", "Bo"), ("Bo", "Cy")]))
    context = await rag.aquery("How do Ann and Bo know each other?", param=QueryParam(mode="local", only_need_context=True))
    check("a question finds its relation", "Ann knows Bo" in context, True)
    await rag.aedit_entity("Di", {"entity_name": "Dora", "description": "renamed"}, allow_rename=True)
    check("renamed", (await rag.get_graph_labels(), await graph.has_edge("Dora", "Cy")), (["Ann", "Bo", "Cy", "Dora"], True))
    await rag.amerge_entities(["Cy", "Dora"], "Cy and Dora")
    check("merged", await graph.get_node_edges("Cy and Dora"), [("Cy and Dora", "Bo")])
    await rag.adelete_by_entity("Bo")
    check("removed", (await rag.get_graph_labels(), await graph.get_all_edges()), (["Ann", "Cy and Dora"], []))
    result = await rag.adelete_by_doc_id("second")
    check("a document goes", result.status, "success")
    await graph.drop()
    await rag.finalize_storages()
    print(f"lightrag example: {counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


with tempfile.TemporaryDirectory() as working_folder:
    sys.exit(asyncio.run(main(working_folder)))
