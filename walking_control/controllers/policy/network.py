# SPDX-License-Identifier: Apache-2.0
"""A policy's network: ONNX by onnxruntime, with whatever it remembers from answer to answer."""

from pathlib import Path
import time

import numpy as np

from walking_control.exceptions import import_optional, InvalidInput

_TRIES = 5  # of which the fastest tells how long an answer takes


class Network:
    """A network from an observation to an action.

    Inputs and outputs behind the first are its memory: each output is the input of the next call.

    Args:
        path: Of an ONNX file.

    Attributes:
        inputs: Numbers of the observation.
        outputs: Numbers of the action.
        metadata: What it says of itself, name -> text.
        duration: How long an answer takes, s.

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
        shapes = [[n if isinstance(n, int) else 1 for n in each.shape] for each in inputs]
        if len(inputs) != len(outputs) or any(each.type != 'tensor(float)' for each in inputs):
            raise InvalidInput(
                f'policy file {path}',
                value=f'{len(inputs)} inputs, {len(outputs)} outputs',
                limit='must be float tensors, an output of the same meaning for each input',
            )
        self.metadata = dict(self._session.get_modelmeta().custom_metadata_map)
        self._names = [each.name for each in inputs]
        self._shapes = shapes
        self.inputs = int(np.prod(shapes[0]))
        self.reset()
        taken = []
        for _ in range(_TRIES):
            begin = time.perf_counter()
            self.outputs = len(self.answer(np.zeros(self.inputs)))
            taken.append(time.perf_counter() - begin)
        self.duration = min(taken)
        self.reset()

    def reset(self) -> None:
        """Forget what was remembered."""
        self._memory = [np.zeros(shape, dtype=np.float32) for shape in self._shapes[1:]]

    def answer(self, observation: np.ndarray) -> np.ndarray:
        """Return the action to an observation, ``(outputs,)``.

        Args:
            observation: ``(inputs,)``.
        """
        first = observation.astype(np.float32).reshape(self._shapes[0])
        given = dict(zip(self._names, (first, *self._memory)))
        action, *self._memory = self._session.run(None, given)
        return np.asarray(action, dtype=float).ravel()
