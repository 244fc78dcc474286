"""Lay the weights of an exported encoder out as safetensors, the form that the service reads. No value changes.

    python lay_out.py --onnx encoder.onnx --out ../../models/recogniser/encoder.safetensors

int8 weights are named `.codes`, as in the voices' file; constants that only the graph needs are left out.
"""

import argparse

import numpy as np
import onnx
from onnx import numpy_helper
from safetensors.numpy import save_file


def weights(path):
    for tensor in onnx.load(path).graph.initializer:
        name, values = tensor.name, numpy_helper.to_array(tensor)
        if name == "positions":
            yield name, values.reshape(values.shape[-2:])
        elif "." in name:
            yield name.replace(".weight", ".codes") if values.dtype == np.int8 else name, values


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--onnx", required=True)
    args.add_argument("--out", required=True)
    args = args.parse_args()
    save_file({name: np.ascontiguousarray(values) for name, values in weights(args.onnx)}, args.out)


if __name__ == "__main__":
    main()
