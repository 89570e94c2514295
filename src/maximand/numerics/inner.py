"""How functions are compiled that kernels alone call."""

from functools import partial

from numba import njit

# Without an entry for Python, which takes long to compile where arguments are many arrays: to call one from Python is
# fatal, so tests/test_kernels.py sees to it that nothing does.
inner = partial(njit, cache=True, nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
