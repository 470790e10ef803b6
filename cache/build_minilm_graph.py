"""Writes `minilm.onnx`, the graph of all-MiniLM-L6-v2 without its weights: `python -m cache.build_minilm_graph`.

Every weight is an external tensor under the name that it has in `model.safetensors`, in the shape that it has there,
so that the file can be mapped and handed over as it is. There is one text a run, hence no batch axis and no mask:
ids (n,) -> hidden (n, 384). Needs `onnx`, which running the program does not.
"""

from pathlib import Path
from typing import Any

from onnx import ModelProto, NodeProto, TensorProto, helper

HIDDEN, HEADS, LAYERS, INNER = 384, 12, 6, 1536
HEAD = HIDDEN // HEADS
VOCABULARY, POSITIONS, SEGMENTS = 30522, 512, 2


class Graph:
    """The nodes and tensors so far; each method adds one and gives back its name."""

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.tensors: list[TensorProto] = []

    def node(self, kind: str, *inputs: str, **attributes: Any) -> str:
        output = str(len(self.nodes))
        self.nodes.append(helper.make_node(kind, inputs, [output], **attributes))
        return output

    def weight(self, name: str, *shape: int) -> str:
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=shape, data_location=TensorProto.EXTERNAL)
        tensor.external_data.add(key="location", value="handed over when the session is made")
        self.tensors.append(tensor)
        return name

    def constant(self, name: str, kind: int, shape: list[int], *values: float) -> str:
        self.tensors.append(helper.make_tensor(name, kind, shape, values))
        return name

    def dense(self, x: str, name: str, width: int, out: int) -> str:
        return self.node(
            "Gemm", x, self.weight(f"{name}.weight", out, width), self.weight(f"{name}.bias", out), transB=1
        )

    def normalised(self, x: str, name: str) -> str:
        scale, shift = self.weight(f"{name}.weight", HIDDEN), self.weight(f"{name}.bias", HIDDEN)
        return self.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-12)


def build() -> ModelProto:
    """The whole graph as an ONNX model."""
    graph = Graph()
    graph.constant("first", TensorProto.INT64, [1], 0)
    graph.constant("into_heads", TensorProto.INT64, [3], 0, HEADS, HEAD)  # 0 keeps the number of tokens
    graph.constant("out_of_heads", TensorProto.INT64, [2], 0, HIDDEN)
    graph.constant("scale", TensorProto.FLOAT, [], HEAD**-0.5)
    x = embeddings(graph)
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        x = feed_forward(graph, name, attention(graph, name, x))
    graph.node("Identity", x)
    graph.nodes[-1].output[0] = "hidden"
    ids = helper.make_tensor_value_info("ids", TensorProto.INT64, ["n"])
    hidden = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, ["n", HIDDEN])
    whole = helper.make_graph(graph.nodes, "all-MiniLM-L6-v2", [ids], [hidden], graph.tensors)
    return helper.make_model(whole, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def embeddings(graph: Graph) -> str:
    """Word, position and segment (always the first), summed and normalised: (n, 384)."""
    words = graph.node("Gather", graph.weight("embeddings.word_embeddings.weight", VOCABULARY, HIDDEN), "ids")
    table = graph.weight("embeddings.position_embeddings.weight", POSITIONS, HIDDEN)
    places = graph.node("Slice", table, "first", graph.node("Shape", "ids"))
    segment = graph.node("Gather", graph.weight("embeddings.token_type_embeddings.weight", SEGMENTS, HIDDEN), "first")
    total = graph.node("Add", graph.node("Add", words, segment), places)
    return graph.normalised(total, "embeddings.LayerNorm")


def attention(graph: Graph, name: str, x: str) -> str:
    """Each token's view of all others, in 12 heads, added to it and normalised: (n, 384)."""
    query, key, value = (
        graph.node("Reshape", graph.dense(x, f"{name}.attention.self.{part}", HIDDEN, HIDDEN), "into_heads")
        for part in ("query", "key", "value")
    )  # (n, 12, 32)
    query = graph.node("Transpose", query, perm=[1, 0, 2])  # (12, n, 32)
    key = graph.node("Transpose", key, perm=[1, 2, 0])  # (12, 32, n)
    value = graph.node("Transpose", value, perm=[1, 0, 2])  # (12, n, 32)
    scores = graph.node("Mul", graph.node("MatMul", query, key), "scale")  # (12, n, n)
    mixed = graph.node("MatMul", graph.node("Softmax", scores, axis=-1), value)  # (12, n, 32)
    joined = graph.node("Reshape", graph.node("Transpose", mixed, perm=[1, 0, 2]), "out_of_heads")
    projected = graph.dense(joined, f"{name}.attention.output.dense", HIDDEN, HIDDEN)
    return graph.normalised(graph.node("Add", projected, x), f"{name}.attention.output.LayerNorm")


def feed_forward(graph: Graph, name: str, x: str) -> str:
    """Two dense steps with a GELU between, added to the token and normalised: (n, 384)."""
    inner = graph.node("Gelu", graph.dense(x, f"{name}.intermediate.dense", HIDDEN, INNER))
    outer = graph.dense(inner, f"{name}.output.dense", INNER, HIDDEN)
    return graph.normalised(graph.node("Add", outer, x), f"{name}.output.LayerNorm")


if __name__ == "__main__":
    Path(__file__).with_name("minilm.onnx").write_bytes(build().SerializeToString(deterministic=True))
