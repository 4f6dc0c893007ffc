#include "processes/flight_record.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace dfccl;

namespace {

MemberStatus memberOf(uint32_t rank, uint64_t submitted, uint64_t finished, uint64_t waitingMillis = 0) {
  return {rank, true, false, submitted, finished, waitingMillis};
}

WorldStatus worldOf(std::vector<CollectiveStatus> collectives) { return {"job", "0", 0, {}, std::move(collectives)}; }

size_t countOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

constexpr int64_t kNowMillis = 1'763'837'198'638;

// In lines for the eye; the record has none.
const char* const kRecord = R"(
{"version":"2.10",
"pg_config":{
"id 4":{"name":"id 4","desc":"all-reduce","ranks":"[0,1]"},
"id 5":{"name":"id 5","desc":"send-recv of 1 int64, from rank 2 to rank 0, tag 3","ranks":"[2,0]"},
"id 9":{"name":"id 9","desc":"reduce-scatter","ranks":"[2,0,1]"},
"id 6":{"name":"id 6","desc":"all-gather","ranks":"[0,1,2]"}},
"pg_status":{
"id 4":{"last_enqueued_collective":1,"last_started_collective":1,"last_completed_collective":1},
"id 5":{"last_enqueued_collective":1,"last_started_collective":1,"last_completed_collective":1},
"id 9":{"last_enqueued_collective":5,"last_started_collective":5,"last_completed_collective":4},
"id 6":{"last_enqueued_collective":1,"last_started_collective":1,"last_completed_collective":0}},
"entries":[
{"frames":[],"record_id":0,"pg_id":0,"process_group":["id 4","all-reduce"],"collective_seq_id":1,"p2p_seq_id":0,"op_id":1,
"profiling_name":"nccl:all_reduce","time_created_ns":null,"input_sizes":[[10]],"input_dtypes":["Float"],
"output_sizes":[[10]],"output_dtypes":["Float"],"state":"completed","time_discovered_started_ns":null,"time_discovered_completed_ns":null,
"retired":true,"timeout_ms":null,"is_p2p":false,"missing_ranks":[]},
{"frames":[],"record_id":1,"pg_id":1,"process_group":["id 5","all-reduce"],"collective_seq_id":1,"p2p_seq_id":0,"op_id":1,
"profiling_name":"nccl:all_reduce","time_created_ns":1763837194438000000,"input_sizes":[[10]],"input_dtypes":["Float"],
"output_sizes":[[10]],"output_dtypes":["Float"],"state":"started","time_discovered_started_ns":null,"time_discovered_completed_ns":null,
"retired":false,"timeout_ms":null,"is_p2p":false,"missing_ranks":[1]},
{"frames":[],"record_id":2,"pg_id":1,"process_group":["id 5","all-reduce"],"collective_seq_id":2,"p2p_seq_id":0,"op_id":2,
"profiling_name":"nccl:all_reduce","time_created_ns":null,"input_sizes":[[10]],"input_dtypes":["Float"],
"output_sizes":[[10]],"output_dtypes":["Float"],"state":"scheduled","time_discovered_started_ns":null,"time_discovered_completed_ns":null,
"retired":false,"timeout_ms":null,"is_p2p":false,"missing_ranks":[1]},
{"frames":[],"record_id":3,"pg_id":3,"process_group":["id 9","reduce-scatter"],"collective_seq_id":3,"p2p_seq_id":0,"op_id":3,
"profiling_name":"nccl:_reduce_scatter_base","time_created_ns":null,"input_sizes":[[9]],"input_dtypes":["BFloat16"],
"output_sizes":[[3]],"output_dtypes":["BFloat16"],"state":"completed","time_discovered_started_ns":null,"time_discovered_completed_ns":null,
"retired":true,"timeout_ms":null,"is_p2p":false,"missing_ranks":[]},
{"frames":[],"record_id":4,"pg_id":3,"process_group":["id 9","reduce-scatter"],"collective_seq_id":4,"p2p_seq_id":0,"op_id":4,
"profiling_name":"nccl:_reduce_scatter_base","time_created_ns":null,"input_sizes":[[9]],"input_dtypes":["BFloat16"],
"output_sizes":[[3]],"output_dtypes":["BFloat16"],"state":"completed","time_discovered_started_ns":null,"time_discovered_completed_ns":null,
"retired":true,"timeout_ms":null,"is_p2p":false,"missing_ranks":[]},
{"frames":[],"record_id":5,"pg_id":3,"process_group":["id 9","reduce-scatter"],"collective_seq_id":5,"p2p_seq_id":0,"op_id":5,
"profiling_name":"nccl:_reduce_scatter_base","time_created_ns":1763837198638000000,"input_sizes":[[9]],"input_dtypes":["BFloat16"],
"output_sizes":[[3]],"output_dtypes":["BFloat16"],"state":"started","time_discovered_started_ns":null,"time_discovered_completed_ns":null,
"retired":false,"timeout_ms":null,"is_p2p":false,"missing_ranks":[1]},
{"frames":[],"record_id":6,"pg_id":4,"process_group":["id 6","all-gather"],"collective_seq_id":1,"p2p_seq_id":0,"op_id":1,
"profiling_name":"nccl:_all_gather_base","time_created_ns":1763837198638000000,"input_sizes":[[7]],"input_dtypes":["Float8_e4m3fn"],
"output_sizes":[[21]],"output_dtypes":["Float8_e4m3fn"],"state":"started","time_discovered_started_ns":null,"time_discovered_completed_ns":null,
"retired":false,"timeout_ms":null,"is_p2p":false,"missing_ranks":[1]},
{"frames":[],"record_id":7,"pg_id":5,"process_group":["id 5","send-recv of 1 int64, from rank 2 to rank 0, tag 3"],"collective_seq_id":1,"p2p_seq_id":0,"op_id":1,
"profiling_name":"nccl:all_to_all","time_created_ns":null,"input_sizes":[[1]],"input_dtypes":["Long"],
"output_sizes":[[1]],"output_dtypes":["Long"],"state":"completed","time_discovered_started_ns":null,"time_discovered_completed_ns":null,
"retired":true,"timeout_ms":null,"is_p2p":false,"missing_ranks":[2]}]})";

}  // namespace

TEST_CASE("a record has a group for each collective of the rank, and its runs from the slowest member's last on") {
  WorldStatus world = worldOf({
      {4, Collective::allReduce, DataType::float32, 10, false, {memberOf(0, 1, 1), memberOf(1, 1, 1)}},
      {5, Collective::allReduce, DataType::float32, 10, false, {memberOf(0, 2, 0, 4200), memberOf(1, 0, 0)}},
      {2, Collective::barrier, DataType::int8, 0, false, {memberOf(1, 3, 3), memberOf(2, 3, 3)}},
      {9,
       Collective::reduceScatter,
       DataType::bfloat16,
       3,
       false,
       {memberOf(2, 5, 4), memberOf(0, 5, 4), memberOf(1, 4, 3)}},
      {6,
       Collective::allGather,
       DataType::float8e4m3,
       7,
       true,
       {memberOf(0, 1, 0), {1, false, false, 0, 0, 0}, {2, false, true, 2, 2, 0}}},
      {5,
       Collective::sendRecv,
       DataType::int64,
       1,
       false,
       {memberOf(2, 0, 0), memberOf(0, 1, 1)},
       "send-recv of 1 int64, from rank 2 to rank 0, tag 3"},
  });
  std::string expected = kRecord;
  std::erase(expected, '\n');
  CHECK(flightRecordOf(world, 0, kNowMillis) == expected);
}

TEST_CASE("a record of a rank with many runs has the last 64 of them") {
  const std::string record = flightRecordOf(
      worldOf({{1, Collective::broadcast, DataType::uint8, 1, false, {memberOf(0, 100, 0), memberOf(1, 0, 0)}}}), 0, 0);
  CHECK(countOf(record, "\"frames\"") == 64);
  CHECK(countOf(record, "\"collective_seq_id\":37,") == 1);
  CHECK(countOf(record, "\"collective_seq_id\":100,") == 1);
}

TEST_CASE("a rank without collectives has an empty record") {
  CHECK(flightRecordOf(worldOf({}), 0, kNowMillis) ==
        R"({"version":"2.10","pg_config":{},"pg_status":{},"entries":[]})");
}
