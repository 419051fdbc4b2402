# SPDX-License-Identifier: Apache-2.0
"""A policy's network, ONNX or TorchScript, with whatever it remembers from answer to answer."""

from abc import ABC, abstractmethod
from pathlib import Path
import time

import numpy as np

from walking_control.exceptions import import_optional, InvalidInput, MissingDependency, require

_TRIES = 5  # of which the fastest tells how long an answer takes


class Network(ABC):
    """A network from an observation to an action.

    Attributes:
        metadata: What it says of itself, name -> text.
    """

    metadata: dict[str, str]

    @abstractmethod
    def reset(self) -> None:
        """Forget what was remembered."""

    @abstractmethod
    def answer(self, observation: np.ndarray) -> np.ndarray:
        """Return the action to an observation, ``(outputs,)``.

        Args:
            observation: ``(inputs,)``.
        """

    def size(self) -> int | None:
        """Return how many numbers its observation has; None if it does not say so."""
        return None

    def spreads(self) -> np.ndarray | None:
        """Return by how much each number of its observation varied in training, ``(inputs,)``.

        That is the standard deviation by which it divides the observation, and None where it does
        not, or the package that reads it is missing.
        """
        return None

    def rehearse(self, inputs: int) -> tuple[int, float]:
        """Answer an observation of zeros, and forget it.

        Args:
            inputs: Numbers of the observation.

        Returns:
            Numbers of the action, and how long an answer takes, s.
        """
        taken = []
        for _ in range(_TRIES):
            begin = time.perf_counter()
            outputs = len(self.answer(np.zeros(inputs)))
            taken.append(time.perf_counter() - begin)
        self.reset()
        return outputs, min(taken)


class OnnxNetwork(Network):
    """A network in ONNX; inputs and outputs behind the first are its memory, fed back.

    Args:
        path: Of the file.

    Raises:
        MissingDependency: onnxruntime is not installed.
        InvalidInput: The file cannot be read, or its inputs and outputs are not of this kind.
    """

    def __init__(self, path: Path) -> None:
        runtime = import_optional('onnxruntime', 'controller policy')
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        try:
            self._session = runtime.InferenceSession(
                str(path), options, providers=['CPUExecutionProvider']
            )
        except Exception as error:  # its own classes, which share no base
            raise InvalidInput(
                f'policy file {path}',
                limit=f'onnxruntime refuses it: {str(error).splitlines()[0]}',
                remedy='export the policy to ONNX',
            ) from error
        inputs, outputs = self._session.get_inputs(), self._session.get_outputs()
        require(
            len(inputs) == len(outputs) and all(each.type == 'tensor(float)' for each in inputs),
            f'policy file {path}',
            value=f'{len(inputs)} inputs, {len(outputs)} outputs',
            limit='must be float tensors, an output of the same meaning for each input',
        )
        self.metadata = dict(self._session.get_modelmeta().custom_metadata_map)
        self._path = path
        self._names = [each.name for each in inputs]
        self._shapes = [[n if isinstance(n, int) else 1 for n in each.shape] for each in inputs]
        self.reset()

    def size(self) -> int | None:
        """Return how many numbers its observation has."""
        return int(np.prod(self._shapes[0]))

    def spreads(self) -> np.ndarray | None:
        """Return how much its observation varied in training, see `Network.spreads`."""
        try:
            onnx = import_optional('onnx', f'policy {self._path}')
        except MissingDependency:
            return None
        graph = onnx.load(str(self._path)).graph
        nodes = [node for node in graph.node if node.op_type != 'Constant']
        kinds = tuple(node.op_type for node in nodes[:2])
        constants = {each.name: each for each in graph.initializer}
        if kinds not in (('Sub', 'Div'), ('Sub', 'Mul')) or nodes[1].input[1] not in constants:
            return None
        by = np.array(onnx.numpy_helper.to_array(constants[nodes[1].input[1]]), float).ravel()
        if by.size != np.prod(self._shapes[0]):
            return None
        return by if kinds[1] == 'Div' else 1.0 / by

    def reset(self) -> None:
        """Forget what was remembered."""
        self._memory = [np.zeros(shape, dtype=np.float32) for shape in self._shapes[1:]]

    def answer(self, observation: np.ndarray) -> np.ndarray:
        """Return the action to an observation, see `Network.answer`."""
        first = observation.astype(np.float32).reshape(self._shapes[0])
        given = dict(zip(self._names, (first, *self._memory)))
        action, *self._memory = self._session.run(None, given)
        return np.asarray(action, dtype=float).ravel()


class TorchNetwork(Network):
    """A network in TorchScript; what it remembers are its own buffers.

    Args:
        path: Of the file.

    Raises:
        MissingDependency: torch is not installed.
        InvalidInput: The file cannot be read.
    """

    def __init__(self, path: Path) -> None:
        self._torch = import_optional('torch', f'policy {path.name} in TorchScript')
        self._torch.set_num_threads(1)
        self.metadata = {}
        try:
            # a program of its own, without Python: a pickled module is refused
            self._module = self._torch.jit.load(str(path), map_location='cpu').eval()
        except (RuntimeError, ValueError, OSError) as error:
            raise InvalidInput(
                f'policy file {path}',
                limit=f'torch.jit refuses it: {str(error).splitlines()[0]}',
                remedy='save it by torch.jit.script, or export it to ONNX',
            ) from error
        self._start = {name: buffer.clone() for name, buffer in self._module.named_buffers()}

    def reset(self) -> None:
        """Forget what was remembered."""
        for name, buffer in self._module.named_buffers():
            buffer.copy_(self._start[name])

    def answer(self, observation: np.ndarray) -> np.ndarray:
        """Return the action to an observation, see `Network.answer`."""
        torch = self._torch
        with torch.no_grad():
            action = self._module(torch.from_numpy(observation.astype(np.float32))[None])
        return np.asarray(action.numpy(), dtype=float).ravel()


def load_network(path: Path) -> Network:
    """Return the network of a file: TorchScript if it ends in ``.pt``, else ONNX.

    Raises:
        MissingDependency: What runs it is not installed.
        InvalidInput: The file cannot be read.
    """
    return (TorchNetwork if path.suffix == '.pt' else OnnxNetwork)(path)
