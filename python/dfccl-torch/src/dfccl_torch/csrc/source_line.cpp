#include "source_line.hpp"

#include <pybind11/pybind11.h>

#include <cstdlib>
#include <unordered_map>
#include <utility>
#include <vector>

namespace dfccl_torch {

enum class WhoseCode { programs, installed, torchs };

/// Of a function of Python's.
struct SourceLine::Code {
  std::string file;
  std::string function;
  WhoseCode whose;
};

namespace {

namespace py = pybind11;

constexpr int kMostFrames = 100;
constexpr size_t kMostKnown = 4096;  // programs that make functions all the time have more
/// Of a thread without Python's frames, as autograd's of its own, so many looks are left out: each takes the lock.
constexpr int kLooksLeftOut = 7;

/// Python's lock, whoever has it.
class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) {}
  ~Gil() { PyGILState_Release(state_); }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
};

bool areLinesWanted() {
  static const bool wanted = [] {
    const char* const value = std::getenv("DFCCL_SOURCE_LINES");
    return value == nullptr || std::string(value) != "0";
  }();
  return wanted;
}

bool isEnding() {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() == 0 || Py_IsFinalizing() != 0;
#else
  return Py_IsInitialized() == 0 || _Py_IsFinalizing() != 0;
#endif
}

bool isWithin(const std::string& file, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    if (!folder.empty() && file.rfind(folder, 0) == 0) return true;
  }
  return false;
}

struct Folders {
  std::vector<std::string> torchs, installed;

  /// Under the interpreter's lock.
  static Folders find() {
    Folders folders;
    const py::object dirname = py::module_::import("os.path").attr("dirname");
    for (const char* module : {"torch", "dfccl_torch"}) {
      const py::object file = dirname(py::module_::import(module).attr("__file__"));
      folders.torchs.push_back(file.cast<std::string>() + "/");
    }
    // Of modules that have no file, and of functions that torch compiles.
    folders.torchs.emplace_back("<frozen ");
    folders.torchs.emplace_back("<eval_with_key>");
    const py::object path = py::module_::import("sysconfig").attr("get_path");
    for (const char* kind : {"stdlib", "platstdlib", "purelib", "platlib"})
      folders.installed.push_back(path(kind).cast<std::string>() + "/");
    return folders;
  }
};

std::string textOf(PyObject* text) {
  const char* const bytes = text == nullptr ? nullptr : PyUnicode_AsUTF8(text);
  if (bytes == nullptr) PyErr_Clear();
  return bytes == nullptr ? "?" : bytes;
}

}  // namespace

/// All under the interpreter's lock.
class CallerSearch {
 public:
  SourceLine from(PyThreadState* thread) {
    SourceLine found;
    PyFrameObject* frame = PyThreadState_GetFrame(thread);
    for (int i = 0; frame != nullptr && i < kMostFrames; ++i) {
      const std::shared_ptr<const SourceLine::Code> code = codeOf(frame);
      const bool isBetter = code->whose == WhoseCode::programs || (code->whose == WhoseCode::installed && !found.code_);
      if (isBetter) {
        found.code_ = code;
        found.line_ = PyFrame_GetLineNumber(frame);
      }
      if (code->whose == WhoseCode::programs) break;
      frame = replaced(frame, PyFrame_GetBack(frame));
    }
    Py_XDECREF(reinterpret_cast<PyObject*>(frame));
    return found;
  }

 private:
  static PyFrameObject* replaced(PyFrameObject* before, PyFrameObject* by) {
    Py_DECREF(reinterpret_cast<PyObject*>(before));
    return by;
  }

  std::shared_ptr<const SourceLine::Code> codeOf(PyFrameObject* frame) {
    const py::object code = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    const auto found = known_.find(code.ptr());
    if (found != known_.end()) return found->second.facts;
    if (known_.size() >= kMostKnown) {
      const auto forgotten = std::exchange(known_, {});  // what Python calls when a function goes may come here
    }
    const auto* const raw = reinterpret_cast<PyCodeObject*>(code.ptr());
    SourceLine::Code facts{textOf(raw->co_filename), textOf(raw->co_name), WhoseCode::programs};
    if (isWithin(facts.file, folders_.torchs)) {
      facts.whose = WhoseCode::torchs;
    } else if (isWithin(facts.file, folders_.installed)) {
      facts.whose = WhoseCode::installed;
    }
    const auto kept = std::make_shared<const SourceLine::Code>(std::move(facts));
    known_.emplace(code.ptr(), Known{code, kept});
    return kept;
  }

  struct Known {
    py::object code;  // no other one gets its address
    std::shared_ptr<const SourceLine::Code> facts;
  };
  const Folders folders_ = Folders::find();
  std::unordered_map<PyObject*, Known> known_;
};

namespace {

CallerSearch* search = nullptr;  // of the process, for ever

/// Whoever issues from a handler of an error still has it behind this.
class KeptError {
 public:
  KeptError() { PyErr_Fetch(&type_, &value_, &trace_); }
  ~KeptError() { PyErr_Restore(type_, value_, trace_); }
  KeptError(const KeptError&) = delete;
  KeptError& operator=(const KeptError&) = delete;

 private:
  PyObject *type_, *value_, *trace_;
};

}  // namespace

void SourceLine::prepare() {
  if (search == nullptr) search = new CallerSearch();
}

SourceLine SourceLine::current() {
  thread_local int looksLeftOut = 0;
  if (search == nullptr || !areLinesWanted() || isEnding()) return {};
  PyThreadState* const thread = PyGILState_GetThisThreadState();
  if (thread == nullptr) return {};
  if (looksLeftOut > 0) {
    --looksLeftOut;
    return {};
  }
  const Gil gil;
  const KeptError kept;
  SourceLine found;
  try {
    found = search->from(thread);
  } catch (...) {  // for want of memory: it's only words that are missing
  }
  if (!found.code_) looksLeftOut = kLooksLeftOut;
  return found;
}

std::string SourceLine::text() const {
  if (!code_) return "";
  return code_->file + ":" + std::to_string(line_) + " in " + code_->function;
}

}  // namespace dfccl_torch
