#define _GNU_SOURCE
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlfcn.h>

static unsigned long sampled;

/* Where its caller is, as an address of the file that holds it. */
__attribute__((noinline)) static unsigned long address_of_caller(void) {
  const char *caller = __builtin_return_address(0);
  Dl_info info;
  return dladdr(caller, &info) ? (unsigned long)(caller - (const char *)info.dli_fbase) - 1 : 0;
}

__attribute__((noinline)) static double add_all(const double *values, Py_ssize_t count) {
  double sum = 0;
  for (Py_ssize_t i = 0; i < count; i++) sum += values[i];
  sampled = address_of_caller();  // the sampled line
  return sum;
}

static PyObject *sum_of(PyObject *module, PyObject *buffer) {
  (void)module;
  Py_buffer view;
  if (PyObject_GetBuffer(buffer, &view, PyBUF_CONTIG_RO)) return NULL;
  double sum = add_all(view.buf, view.len / (Py_ssize_t)sizeof(double));
  PyBuffer_Release(&view);
  return PyFloat_FromDouble(sum);
}

static PyObject *last_address(PyObject *module, PyObject *nothing) {
  (void)module;
  (void)nothing;
  return PyLong_FromUnsignedLong(sampled);
}

static PyMethodDef methods[] = {
    {"sum_of", sum_of, METH_O, "The sum of a buffer of doubles."},
    {"last_address", last_address, METH_NOARGS, "An address within the last sum's work."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {.m_base = PyModuleDef_HEAD_INIT, .m_name = "fastsum", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit_fastsum(void) { return PyModule_Create(&definition); }
