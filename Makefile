# SPDX-License-Identifier: Apache-2.0
# Each target sets up what it needs: with a sourced ROS 2 an environment on top of it, without
# one an environment of its own with ROS 2 from wheels. PYTHON=... picks the interpreter.
# Demo and tests run what is installed: a file that the packaging forgets fails here.

PYTHON ?= python3
ROS := $(if $(ROS_DISTRO),$(shell $(PYTHON) -c 'import rclpy' 2>/dev/null && echo $(ROS_DISTRO)))
VENV := $(CURDIR)/.venv$(if $(ROS),-$(ROS))
BIN := $(VENV)/bin
SOURCES := $(shell find walking_control launch config urdf scripts resource -type f \
	! -path '*/__pycache__/*' 2>/dev/null) package.xml setup.cfg pyproject.toml LICENSE
PIP := $(BIN)/python -m pip --disable-pip-version-check
# On top of ROS 2, whose compiled modules (Pinocchio, messages) are made for its own NumPy: that
# version stays, and the wheel of Pinocchio, which wants another, is left out.
# Everything else is what setup.py asks for without ROS 2, so that all tests run in both set-ups.
REQUIREMENTS = import runpy, setuptools; \
	setuptools.setup = lambda **given: print(*sorted({name for group in ( \
		given["install_requires"], *(names for extra, names in given["extras_require"].items() \
		if extra != "ros")) for name in group} - {"pin", "setuptools"}), sep="\n"); \
	runpy.run_path("setup.py")
ADD = $(PIP) install --quiet --only-binary :all: --constraint $(VENV)/constraints

export ROS_DOMAIN_ID ?= $(shell echo $$(($$$$ % 100 + 1)))
export ROS_AUTOMATIC_DISCOVERY_RANGE ?= LOCALHOST
export AMENT_PREFIX_PATH := $(VENV)$(if $(ROS),:$(AMENT_PREFIX_PATH))
ifeq ($(ROS),humble)
export ROS_LOCALHOST_ONLY ?= 1
endif
# each worker would compile every test anew, each program the package
unexport PYTHONDONTWRITEBYTECODE
ifeq ($(ROS),)
# what is meant for another interpreter
unexport PYTHONPATH PYTHONHOME _ROS_WHEELS_BOOTSTRAP_COMPLETE
endif

.PHONY: help demo test golden lint site dist bench soak setup clean

help:
	@echo 'make demo    walk Dribbel over ROS 2; report in out/demo'
	@echo 'make test    run the tests on all cores; ARGS=... goes to pytest, "-m long" runs the longer ones'
	@echo 'make golden  compare short walks with what is kept of them; ARGS=--write keeps them anew'
	@echo 'make lint    ruff, its formatting and mypy, as CI runs them'
	@echo 'make site    the pages as a site in out/site; a dead link or anchor is an error'
	@echo 'make dist    sdist and wheel in dist, the same bytes of the same sources'
	@echo 'make bench   how fast it is: ratios to something in the same run, with the load of the machine'
	@echo 'make soak    walk 30 minutes of simulated time with random faults;'
	@echo '             then 10 minutes of random bytes and requests to the nodes of three robots,'
	@echo '             10 minutes in real time beside two busy processes, every lie of every sensor,'
	@echo '             the route of the demo in space with 20 seeds, 20 kills of each robot, and every'
	@echo '             command that a page shows'
	@echo 'make setup   only the environment, $(VENV)'
	@echo 'make clean   remove what these make'
	@echo 'PYTHON=python3.12 picks the interpreter; a sourced ROS 2 is used if that interpreter has it.'

demo: setup
	$(BIN)/walking_control demo --out out/demo $(ARGS)

# Files go to the cores as they come, each as a whole, for its fixtures' sake; unit tests, small
# and last, fill the gaps. Compiled code comes from the user's cache folder and goes there, as at any
# other use: an entry's name is a digest of all it depends on, and half the time is compiling.
# One worker more than processors: tests of nodes wait for messages and for other processes.
test: export OPENBLAS_NUM_THREADS ?= 1
test: export PYTEST_XDIST_AUTO_NUM_WORKERS ?= $(shell $(PYTHON) -c 'import os; print(1 + os.cpu_count())')
test: setup
	$(BIN)/pytest test -n auto --maxprocesses 8 --dist loadfile --no-loadscope-reorder \
		--durations 10 -rs $(ARGS)

golden: setup
	@$(BIN)/python test/golden/golden.py $(ARGS)

lint: $(VENV)/dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

site: $(VENV)/dependencies
	$(BIN)/python -m sphinx -n -W --keep-going -q -c doc . out/site $(ARGS)
	@echo 'wrote out/site/index.html'

# SOURCE_DATE_EPOCH: the time that the files of a release carry
dist: export SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || echo 1700000000)
dist: $(VENV)/dependencies
	$(BIN)/python -m build --no-isolation --outdir dist .

# Those that compare speeds; the others are studies, each with a page that names it.
BENCH := controller_node curve_tracking estimator gait_search rigid_plant space_tick static_torque sweep watchdog
bench: setup
	@status=0; for name in $(BENCH); do echo "benchmarks/$$name.py: $$(uptime)"; \
		$(BIN)/python "benchmarks/$$name.py" || status=1; done; exit $$status

soak: setup
	$(BIN)/python test/helpers/soak.py $(ARGS)
	WALKING_CONTROL_SOAK=200 $(BIN)/pytest -o timeout=550 -m 'slow or not slow' \
		test/nodes/test_random_input.py test/nodes/test_realtime.py
	$(BIN)/pytest -m 'slow or not slow' test/physics/test_sensor_lies.py test/physics/test_walker3d_route.py \
		test/unit/recording/test_recorder.py test/nodes/test_recording.py test/documentation/test_commands.py

setup: $(VENV)/installed

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	{ echo 'make: $(PYTHON) is missing or older than 3.10; choose another with PYTHON=...' >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	{ echo 'make: $(PYTHON) cannot make virtual environments; on Debian and Ubuntu: sudo apt install python3-venv' >&2; exit 1; }
	$(PYTHON) -m venv $(if $(ROS),--system-site-packages) $(VENV)

# --no-build-isolation: a change in the sources then installs without a network.
$(VENV)/dependencies: setup.py $(BIN)/python
	$(PIP) install --quiet --upgrade 'setuptools>=70.1'
ifeq ($(ROS),)
	$(PIP) install --quiet --no-build-isolation \
		'.[ros,sim,dart,fast,statics,sweep,tune,plot,record,logs,monitor,policy,test,docs,lint]'
else
	@$(BIN)/python -c 'import pinocchio' 2>/dev/null || \
	{ echo 'make: ROS 2 $(ROS) lacks Pinocchio: sudo apt install ros-$(ROS)-pinocchio, or do without ROS 2: env -u ROS_DISTRO make ...' >&2; exit 1; }
	$(BIN)/python -c 'import numpy; print("numpy==" + numpy.__version__)' > $(VENV)/constraints
	$(BIN)/python -c '$(REQUIREMENTS)' > $(VENV)/requirements
	$(ADD) --requirement $(VENV)/requirements
	$(ADD) --ignore-installed 'pytest<8.4'
endif
	@touch $@

$(VENV)/installed: $(VENV)/dependencies $(SOURCES)
	@rm -rf build/lib build/bdist.*
	$(PIP) install --quiet --no-build-isolation --no-deps --force-reinstall .
	@rm -rf build/lib build/bdist.*
	@touch $@

clean:
	rm -rf .venv .venv-* build dist out *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
