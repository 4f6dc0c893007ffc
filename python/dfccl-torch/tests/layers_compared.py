"""The layers that are compared, and how closely."""

import layers_collectives
import layers_tensors
import layers_training

QUICK = [
    layers_collectives.functional_collectives,
    layers_collectives.gradients_of_collectives,
    layers_collectives.meshes,
    layers_collectives.objects,
    layers_collectives.messages,
    layers_tensors.placements,
    layers_training.pipelines,
]
OTHERS = [
    layers_collectives.compiled_collectives,
    layers_tensors.tensor_parallel,
    layers_training.data_parallel,
    layers_training.compiled_data_parallel,
    layers_training.hybrid_shards,
    layers_training.older_shards,
    layers_training.checkpoints,
]
# Gloo adds up in another order; and in 16 bits.
TOLERANCES = {
    layers_training.data_parallel: 1e-3,
    layers_training.compiled_data_parallel: 1e-5,
    layers_training.older_shards: 1e-5,
    layers_training.checkpoints: 1e-5,
}
