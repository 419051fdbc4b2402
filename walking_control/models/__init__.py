# SPDX-License-Identifier: Apache-2.0
"""What a walker is: robot file, dynamics, actuators, and the signals all rooms share.

What many need is here by name and is imported on first use, whichever module of the room it is in::

    from walking_control.models import Dynamics, Robot, World
"""

from walking_control.door import open_door

# module -> the names in it that many need
_PUBLIC, __all__, __getattr__ = open_door(
    __name__,
    {
        'actuators': 'GearedMotor JointFriction JointSpring lagging MotorThermal NO_FRICTION '
        'NO_SPRING',
        'array_functions': 'array_function factorise_spd form inner multiply solve_spd Terms',
        'base': 'Base ROOT',
        'contact': 'constraint_forces contact_acceleration deform impact_of_second_foot '
        'loss_matrix project_velocity SpringModel undeformed',
        'drive_kinds': 'KINDS',
        'drives': 'Drives fields_of picks_of',
        'dynamics': 'bare_robot Dynamics floor_gravity load_bare_robot',
        'floor': 'FloorProfile read_profile require_level',
        'friction': 'ARMATURE BACK_LOSS COULOMB DRIVING_LOSS FADE friction_table friction_torque '
        'friction_torques gear_change gear_table loses lost_torques motor_efforts passive_elements '
        'passive_torques spring_table spring_torques VISCOUS',
        'own_signals': 'OwnSignal',
        'parameters': 'parameter Parameter Parameters read_rows',
        'pendulum': 'clearance find_landing leg_angles leg_direction leg_rates push_off_speed '
        'settle stand step_over swing tension',
        'pose': 'check_limits',
        'registry': 'Choice choose_or_make Registry',
        'resources': 'drives_path find_meshes gait_beside gait_path missing_meshes noise_path '
        'place_meshes policy_path robot_path route_path share_directory',
        'robot': 'in_words JointLock MOTORS Robot SENSORS Start',
        'robot_file': 'read_parameters RobotFile with_section World',
        'robot_section': 'check_name urdf_path',
        'scale': 'hip_height hip_joints Scale scale_of',
        'signals': 'BaseState Command CONTACT IMU imu_name JOINTS LOCKS Measurement motor_places '
        'OWN places_of Reference rotation_of Sensor sensors_of Signal STATE topic_word WalkerState '
        'whole_nanoseconds',
        'space_equations': 'SpaceEquations',
        'step_equations': 'StepEquations',
        'step_numbers': 'spring_places spring_rows step_parameters',
        'support.compiled': 'compile_ahead compile_law compile_terms compile_where_possible '
        'make_terms point_to point_to_terms',
        'support.dynamics': 'effort_map foot_turn Mechanics mechanics_of SupportDynamics '
        'terms_places',
        'symmetry': 'joint_axis mirrored_joints NEARLY REFLECTION require_equal_legs',
        'templates': 'fill format_number',
        'thermal': 'check_air Heating heating HOTTEST',
        'urdf': 'caught_remarks check_urdf differences is_urdf link_names load_urdf moving_joints '
        'parse parse_xml require_room scale_masses UrdfJoint without_shapes',
        'urdf_parts': 'add_joint numbers_text origin_of placement_of support_balls',
        'urdf_structure': 'mimic_joints root_link',
        'yaml_text': 'finite load_yaml mapping read_yaml require_part',
    },
)
