"""The acoustic model: Whisper small's encoder with a letter CTC head.

Whisper's encoder carries the voices of the world; the head spells what it hears. From an early
layer on, pairs of frames are averaged, which halves the cost of the upper layers and gives the
25 frames a second that the letters need.
"""

import re

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from spelling import CLASSES

WIDTH, HEADS, LAYERS, POSITIONS = 768, 12, 12, 1500
HALVE_AFTER = 2  # the layer after which pairs of frames are averaged; weights carry their own


class Layer(nn.Module):
    """Names follow Whisper's checkpoints, so that pretrained tensors are found by name."""

    def __init__(self):
        super().__init__()
        self.self_attn = nn.Module()
        for name, bias in (("k_proj", False), ("v_proj", True), ("q_proj", True), ("out_proj", True)):
            setattr(self.self_attn, name, nn.Linear(WIDTH, WIDTH, bias=bias))
        self.self_attn_layer_norm = nn.LayerNorm(WIDTH)
        self.fc1 = nn.Linear(WIDTH, 4 * WIDTH)
        self.fc2 = nn.Linear(4 * WIDTH, WIDTH)
        self.final_layer_norm = nn.LayerNorm(WIDTH)

    def forward(self, x, mask, dropout=0.0):
        attn, (batch, frames, _) = self.self_attn, x.shape
        y = self.self_attn_layer_norm(x)
        q, k, v = (p(y).view(batch, frames, HEADS, -1).transpose(1, 2) for p in (attn.q_proj, attn.k_proj, attn.v_proj))
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        y = attn.out_proj(y.transpose(1, 2).reshape(batch, frames, WIDTH))
        x = x + F.dropout(y, dropout, self.training)
        y = self.fc2(F.gelu(self.fc1(self.final_layer_norm(x))))
        return x + F.dropout(y, dropout, self.training)


class Recogniser(nn.Module):
    def __init__(self, halve_after: int = HALVE_AFTER):
        super().__init__()
        self.halve_after = halve_after
        self.conv1 = nn.Conv1d(80, WIDTH, 3, padding=1)
        self.conv2 = nn.Conv1d(WIDTH, WIDTH, 3, stride=2, padding=1)
        self.embed_positions = nn.Embedding(POSITIONS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.layer_norm = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, CLASSES)

    def spelled(self, x):
        return self.head(self.layer_norm(x)).float().log_softmax(-1)

    def states(self, mel, frames, dropout=0.0, layer_drop=0.0, middle_after=None):
        """mel: batch x 80 x T with T a multiple of 4; `frames`: valid mel frames of each clip.
        Returns the last layer's states, batch x T/4 x WIDTH, the valid length of each, and the states after layer `middle_after`."""
        x = F.gelu(self.conv1(mel))
        x = F.gelu(self.conv2(x)).transpose(1, 2)
        x = x + self.embed_positions.weight[: x.shape[1]]
        valid, middle = (frames + 1) // 2, None
        for i, layer in enumerate(self.layers):
            if i == self.halve_after:
                x = x.view(x.shape[0], x.shape[1] // 2, 2, WIDTH).mean(2)
                valid = (valid + 1) // 2
            mask = (torch.arange(x.shape[1], device=x.device)[None] < valid[:, None])[:, None, None, :]
            if not (self.training and layer_drop > 0 and torch.rand(()) < layer_drop):
                x = layer(x, mask, dropout)
            if i + 1 == middle_after:
                middle = x
        return x, valid, middle

    def forward(self, mel, frames, **how):
        """Log-probabilities, batch x T/4 x classes, and the valid length of each; with `middle_after` also the
        log-probabilities that the head reads off that layer."""
        last, valid, middle = self.states(mel, frames, **how)
        return (self.spelled(last), valid) if middle is None else (self.spelled(last), valid, self.spelled(middle))


def load_recogniser(path: str, device: str, halve_after: int | None = None) -> Recogniser:
    """Weights of an earlier training, halving where they did unless told otherwise."""
    state = {k: v.float() for k, v in torch.load(path, map_location=device).items()}
    carried = int(state.pop("halve_after", torch.tensor(6)))  # earlier trainings did not say so
    model = Recogniser(halve_after or carried).to(device)
    model.load_state_dict(state)
    return model


def state_of(model: Recogniser) -> dict[str, torch.Tensor]:
    """What is saved: float16 weights, and where the frames are halved."""
    return {k: v.half() for k, v in model.state_dict().items()} | {"halve_after": torch.tensor(model.halve_after)}


def load_whisper_encoder(path: str, model: Recogniser) -> None:
    """Fill the encoder from Whisper's int8 ONNX export, dequantised tensor by tensor."""
    import onnx
    from onnx import numpy_helper

    graph = onnx.load(path).graph
    tensors = {t.name: t for t in graph.initializer}
    state = model.state_dict()
    filled = set()

    def array(name):
        return numpy_helper.to_array(tensors[name]).astype(np.float32)

    def dequantised(name, columns):
        base = name[: -len("_quantized")]
        weight, scale, zero = array(name), array(base + "_scale"), array(base + "_zero_point")
        if scale.size > 1:
            shape = (1, -1) if columns else [-1] + [1] * (weight.ndim - 1)
            scale, zero = scale.reshape(shape), zero.reshape(shape)
        return (weight - zero) * scale

    def put(key, value):
        state[key].copy_(torch.tensor(np.ascontiguousarray(value)))
        filled.add(key)

    for name, tensor in tensors.items():
        if name in state and tuple(tensor.dims) == tuple(state[name].shape):
            put(name, array(name))
        elif name.endswith("_quantized") and name[:-10] in state:
            put(name[:-10], dequantised(name, columns=False))
    for node in graph.node:
        if node.op_type == "MatMulInteger" and node.input[1] in tensors:
            found = re.search(r"layers\.(\d+)/([\w/.]+?)/MatMul", node.name)
            if found:
                key = f"layers.{found[1]}.{found[2].replace('/', '.')}.weight"
                if key in state:
                    put(key, dequantised(node.input[1], columns=True).T)
    missing = [k for k in state if k not in filled and not k.startswith("head.")]
    if missing:
        raise SystemExit(f"the export lacks {missing}")
