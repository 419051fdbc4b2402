# SPDX-License-Identifier: Apache-2.0
"""The parameters of a learned policy."""

from walking_control.controllers.parameters import LawParameters
from walking_control.models.parameters import parameter


class PolicyParameters(LawParameters, section='policy'):
    """Of a learned policy; what its network takes and gives stands in a file beside it."""

    rate: float = parameter(500.0, 'Hz', 'Rate of the joint PD between two answers.', 10.0, 2000.0)
    file: str = parameter('', '', 'The network: path of a file in ONNX or TorchScript (.pt).')
    config: str = parameter(
        '',
        '',
        'YAML of its observation, rate, joints and gains, or name of a shipped one; '
        'empty: beside the network, else its metadata.',
    )
    speed: float = parameter(0.5, 'm/s', 'Speed ahead, unless commanded.', -5.0, 5.0, live=True)
    sideways: float = parameter(0.0, 'm/s', 'Speed to the left.', -5.0, 5.0, live=True)
    turn: float = parameter(0.0, 'rad/s', 'Rate of turning to the left.', -5.0, 5.0, live=True)
