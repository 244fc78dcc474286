"""Write the recogniser's encoder as the ONNX graph that rten runs fastest.

Linear layers become DynamicQuantizeLinear + MatMulInteger with int8 weights per output column, the
two convolutions become matrix products over shifted frames, attention is one MultiHeadAttention
node. Initialisers keep stable names (`layers.3.q.weight`, `.scale`, `.bias`), by which `lay_out.py` takes
them out for the service.

    python export.py --weights recogniser16.pt --out encoder.onnx

state_dict: conv1, conv2, embed_positions, layers.N.self_attn.{q,k,v,out}_proj,
layers.N.self_attn_layer_norm, layers.N.fc1, layers.N.fc2, layers.N.final_layer_norm, layer_norm
(Whisper's names, tensors or arrays), head.{weight,bias} of Linear(768, 29) and `halve_after`.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FRAMES_MAX = 1500
HEADS = 12


class Graph:
    def __init__(self):
        self.nodes, self.tensors, self.quantised = [], {}, {}

    def const(self, name, array):
        if name not in self.tensors:
            self.tensors[name] = numpy_helper.from_array(np.ascontiguousarray(array).reshape(np.shape(array)), name)
        return name

    def node(self, op, inputs, outputs=1, name=None, domain=None, **attributes):
        stem = name or f"{op}_{len(self.nodes)}"
        names = [stem] if outputs == 1 else [f"{stem}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, name="n_" + stem, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def linear(self, x, name, weight, bias=None):
        """weight: [inputs, outputs]; symmetric int8 per column."""
        scale = np.maximum(np.abs(weight).max(axis=0), 1e-8).astype(np.float32) / 127
        q = np.clip(np.round(weight / scale), -127, 127).astype(np.int8)
        if x not in self.quantised:
            self.quantised[x] = self.node("DynamicQuantizeLinear", [x], 3)
        xq, x_scale, x_zero = self.quantised[x]
        zero = self.const(f"zero_{q.shape[1]}", np.zeros(q.shape[1], np.int8))
        y = self.node("MatMulInteger", [xq, self.const(name + ".weight", q), x_zero, zero])
        y = self.node("Cast", [y], to=TensorProto.FLOAT)
        y = self.node("Mul", [y, self.node("Mul", [x_scale, self.const(name + ".scale", scale)])])
        if bias is not None:
            y = self.node("Add", [y, self.const(name + ".bias", bias.astype(np.float32))])
        return y

    def layer_norm(self, x, name, weight, bias):
        return self.node("LayerNormalization", [x, self.const(name + ".weight", weight), self.const(name + ".bias", bias)],
                         axis=-1, epsilon=1e-5)

    def ints(self, *values):
        return self.const("ints_" + "_".join(map(str, values)), np.array(values, np.int64))

    def slice(self, x, start, stop, step=1):
        return self.node("Slice", [x, self.ints(start), self.ints(stop), self.ints(1), self.ints(step)])

    def three_frames(self, x, step):
        """Each frame with its neighbours: a width-3 convolution becomes a matrix product."""
        padded = self.node("Pad", [x, self.ints(0, 1, 0, 0, 1, 0)])
        return self.node("Concat", [self.slice(padded, 0, -2, step), self.slice(padded, 1, -1, step),
                                    self.slice(padded, 2, 1 << 40, step)], axis=2)


def conv_as_matrix(weight):
    """[out, in, 3] -> [3 * in, out], frames in time order."""
    return weight.transpose(2, 1, 0).reshape(-1, weight.shape[0])


def write_encoder(path, state_dict, layers=12):
    halve_after = int(state_dict.get("halve_after", 6))
    w = {k: np.asarray(v.detach().float().cpu().numpy() if hasattr(v, "detach") else v, np.float32)
         for k, v in state_dict.items()}
    g = Graph()
    width = w["conv1.weight"].shape[0]
    x = g.three_frames("mel", 1)
    x = g.node("MatMul", [x, g.const("conv1.weight", conv_as_matrix(w["conv1.weight"]))])
    x = g.node("Gelu", [g.node("Add", [x, g.const("conv1.bias", w["conv1.bias"])])])
    x = g.node("Gelu", [g.linear(g.three_frames(x, 2), "conv2", conv_as_matrix(w["conv2.weight"]), w["conv2.bias"])])
    positions = g.const("positions", w["embed_positions.weight"][None, : FRAMES_MAX // 2])
    length = g.node("Shape", [x], start=1, end=2)
    x = g.node("Add", [x, g.node("Slice", [positions, g.ints(0), length, g.ints(1)])])
    for n in range(layers):
        if n == halve_after:
            pairs = g.node("Reshape", [x, g.ints(0, -1, 2 * width)])
            first, second = g.node("Split", [pairs], 2, axis=-1, num_outputs=2)
            x = g.node("Mul", [g.node("Add", [first, second]), g.const("half", np.array(0.5, np.float32))])
        a, p = f"layers.{n}.self_attn", f"layers.{n}"
        y = g.layer_norm(x, p + ".norm1", w[f"{a}_layer_norm.weight"], w[f"{a}_layer_norm.bias"])
        q = g.linear(y, p + ".q", w[a + ".q_proj.weight"].T, w[a + ".q_proj.bias"])
        k = g.linear(y, p + ".k", w[a + ".k_proj.weight"].T)
        v = g.linear(y, p + ".v", w[a + ".v_proj.weight"].T, w[a + ".v_proj.bias"])
        y = g.node("MultiHeadAttention", [q, k, v], domain="com.microsoft", num_heads=HEADS)
        x = g.node("Add", [x, g.linear(y, p + ".out", w[a + ".out_proj.weight"].T, w[a + ".out_proj.bias"])])
        y = g.layer_norm(x, p + ".norm2", w[p + ".final_layer_norm.weight"], w[p + ".final_layer_norm.bias"])
        y = g.node("Gelu", [g.linear(y, p + ".fc1", w[p + ".fc1.weight"].T, w[p + ".fc1.bias"])])
        x = g.node("Add", [x, g.linear(y, p + ".fc2", w[p + ".fc2.weight"].T, w[p + ".fc2.bias"])])
    g.const("frames.halve_after", np.array([halve_after], np.int32))
    x = g.layer_norm(x, "norm", w["layer_norm.weight"], w["layer_norm.bias"])
    x = g.node("MatMul", [x, g.const("head.weight", w["head.weight"].T)])
    x = g.node("Add", [x, g.const("head.bias", w["head.bias"])])
    g.node("LogSoftmax", [x], name="logprobs", axis=-1)
    graph = helper.make_graph(
        g.nodes, "sauti-recogniser",
        [helper.make_tensor_value_info("mel", TensorProto.FLOAT, ["batch", "frames", 80])],
        [helper.make_tensor_value_info("logprobs", TensorProto.FLOAT, ["batch", "steps", w["head.bias"].size])],
        list(g.tensors.values()))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)])
    model.ir_version = 9
    onnx.save(model, path)


def main():
    import argparse

    import torch

    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--weights", required=True)
    args.add_argument("--out", required=True)
    args = args.parse_args()
    write_encoder(args.out, torch.load(args.weights, map_location="cpu"))


if __name__ == "__main__":
    main()
