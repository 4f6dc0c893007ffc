#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

#include "backend.hpp"
#include "buffered_sends.hpp"
#include "device_stream.hpp"
#include "errands.hpp"
#include "gpu_call.hpp"
#include "source_line.hpp"
#include "tag.hpp"
#include "universe.hpp"

namespace py = pybind11;
using namespace dfccl_torch;

// NOLINTNEXTLINE: the macro's own names
PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  py::module_::import("torch.distributed");  // whose types the functions take and give

  py::class_<Universe, std::shared_ptr<Universe>>(module, "Universe")
      .def(py::init([](const std::string& job, int rank, int ranks, std::chrono::milliseconds timeout,
                       Universe::Store store, const std::string& host, const std::string& secret,
                       const std::string& machine) {
             return std::make_shared<Universe>(job, rank, ranks, timeout, std::move(store),
                                               Meeting{host, secret, machine});
           }),
           py::arg("job"), py::arg("rank"), py::arg("ranks"), py::arg("timeout"), py::arg("store"),
           py::arg("host") = "", py::arg("secret") = "", py::arg("machine") = "",
           py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("job", &Universe::job);
  py::class_<GpuCall>(module, "GpuCall")
      .def(py::init<const std::shared_ptr<Universe>&>(), py::arg("universe"))
      .def("is_over", &GpuCall::isOver, py::call_guard<py::gil_scoped_release>())
      .def("is_made", &GpuCall::isMade, py::call_guard<py::gil_scoped_release>())
      .def("tell", &GpuCall::tell, py::arg("device"), py::call_guard<py::gil_scoped_release>())
      .def("join", &GpuCall::join, py::call_guard<py::gil_scoped_release>());
  // Now, while other threads wait for this module: whoever looks later imports nothing.
  try {
    SourceLine::prepare();
  } catch (const std::exception& error) {
    py::module_::import("warnings").attr("warn")(std::string("dfccl names no lines of Python: ") + error.what());
  }
  module.attr("has_cuda") = hasCuda();
  module.def("shared_universe", &sharedUniverse);
  module.def("share_universe", &shareUniverse);
  module.def("describe", &describeWorlds, py::call_guard<py::gil_scoped_release>());
  module.def("timeout_of", [](c10d::Backend& backend) { return backend.getBackendOptions()->timeout; });
  module.def("end_buffered_sends", &endBufferedSends, py::arg("limit"), py::call_guard<py::gil_scoped_release>());
  module.def("end_errands", &endErrands, py::arg("limit"), py::call_guard<py::gil_scoped_release>());
  module.def("set_tag", &setTag, py::arg("name"));
  module.def(
      "make_backend",
      [](const std::shared_ptr<Universe>& universe, const std::vector<int>& worldRanks, const std::string& name,
         int rank, std::chrono::milliseconds timeout) -> c10::intrusive_ptr<c10d::Backend> {
        return c10::make_intrusive<DfcclBackend>(universe, worldRanks, name, rank, timeout);
      },
      py::arg("universe"), py::arg("world_ranks"), py::arg("name"), py::arg("rank"), py::arg("timeout"),
      py::call_guard<py::gil_scoped_release>());
}
