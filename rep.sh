T=/root/try/ci25/main
export LD_LIBRARY_PATH=$T/build-sid/prio-sched GI_TYPELIB_PATH=$T/build-sid/prio-sched PYTHONPATH=$PWD/introspection/python
timeout 60 /usr/bin/python3 tests/asyncio_priorities.py gi.events 2>&1 | tail -12
