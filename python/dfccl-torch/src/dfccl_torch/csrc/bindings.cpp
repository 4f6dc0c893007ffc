#include <pybind11/chrono.h>
#include <torch/csrc/utils/pybind.h>

#include "backend.hpp"
#include "tag.hpp"
#include "universe.hpp"

namespace py = pybind11;
using namespace dfccl_torch;

// NOLINTNEXTLINE: the macro's own names
PYBIND11_MODULE(TORCH_EXTENSION_NAME, module) {
  py::module_::import("torch.distributed");  // whose types the functions take and give

  py::class_<Universe, std::shared_ptr<Universe>>(module, "Universe")
      .def(py::init<const std::string&, int, int, std::chrono::milliseconds>(), py::arg("job"), py::arg("rank"),
           py::arg("ranks"), py::arg("timeout"), py::call_guard<py::gil_scoped_release>());
  module.def("shared_universe", &sharedUniverse);
  module.def("share_universe", &shareUniverse);
  module.def("describe", &describeUniverses, py::call_guard<py::gil_scoped_release>());
  module.def("set_tag", &setTag, py::arg("name"));
  module.def(
      "make_backend",
      [](const std::shared_ptr<Universe>& universe, const std::vector<int>& worldRanks, const std::string& name,
         int rank, std::chrono::milliseconds timeout) -> c10::intrusive_ptr<c10d::Backend> {
        const auto group = std::make_shared<Group>(universe, worldRanks, name);
        return c10::make_intrusive<DfcclBackend>(group, rank, static_cast<int>(worldRanks.size()), timeout);
      },
      py::arg("universe"), py::arg("world_ranks"), py::arg("name"), py::arg("rank"), py::arg("timeout"),
      py::call_guard<py::gil_scoped_release>());
}
