{
  "target_defaults": {
    "cflags_cc": ["-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-fvisibility=hidden", "-fno-omit-frame-pointer"],
    "cflags_cc!": ["-fno-exceptions", "-fno-rtti", "-std=gnu++17", "-std=gnu++20"],
    "cflags!": ["-fno-exceptions"],
    "conditions": [["OS!='linux'", { "type": "none" }]]
  },
  "targets": [
    {
      "target_name": "umaprobe",
      "sources": ["<!@(node -p \"require('fs').readdirSync('native',{recursive:true}).filter(f=>f.endsWith('.cc')&&!/^(sim|run\\/supervisor)\\//.test(f)).sort().map(f=>'native/'+f).join(' ')\")"],
      "include_dirs": ["native", "<!(node -p \"require('node-addon-api').include_dir\")"],
      "defines": ["NAPI_VERSION=8", "NODE_ADDON_API_CPP_EXCEPTIONS", "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS"],
      "libraries": ["-ldl", "-lpthread"],
      "ldflags": ["-static-libstdc++", "-static-libgcc", "-Wl,--version-script=<(module_root_dir)/native/addon.map"]
    },
    # The program of guard(): what it needs of the addon's rooms, and no Node-API.
    {
      "target_name": "umaprobe-guard",
      "type": "executable",
      "sources": ["<!@(node -p \"require('fs').readdirSync('native',{recursive:true}).filter(f=>/^(base|host|machine|run\\/supervisor)\\/.*\\.cc$|^(nvml\\/(nvml|queries)|run\\/record\\/shared_readings|runtime\\/thread_priority)\\.cc$/.test(f)).sort().map(f=>'native/'+f).join(' ')\")"],
      "include_dirs": ["native"],
      "libraries": ["-ldl", "-lpthread"],
      # node-gyp links programs with -rdynamic, for addons: it doubles this one, which loads none.
      "ldflags": ["-static-libstdc++", "-static-libgcc", "-Wl,--no-export-dynamic", "-Wl,--gc-sections"]
    },
    {
      "target_name": "umasim",
      "type": "shared_library",
      "product_prefix": "lib",
      "product_dir": "<(PRODUCT_DIR)",
      "sources": ["<!@(node -p \"require('fs').readdirSync('native/sim',{recursive:true}).filter(f=>f.endsWith('.cc')&&!/^(libcudart|programs)\\//.test(f)).sort().map(f=>'native/sim/'+f).join(' ')\")"],
      "include_dirs": ["native"],
      # sim/abi/interpose.cc defines open64 beside open: under node-gyp's large-file macros both would be one symbol.
      "defines!": ["_FILE_OFFSET_BITS=64", "_LARGEFILE_SOURCE"],
      "libraries": ["-ldl", "-lpthread", "-lrt"],
      "ldflags": ["-static-libstdc++", "-static-libgcc", "-Wl,--version-script=<(module_root_dir)/native/sim/abi/exports.map"]
    },
    # One library for each CUDA version: native/sim/libcudart/libcudart.cc says why.
    {
      "target_name": "umasim-cudart11",
      "type": "shared_library",
      "product_prefix": "lib",
      "product_dir": "<(PRODUCT_DIR)",
      "dependencies": ["umasim"],
      "sources": ["native/sim/libcudart/libcudart.cc"],
      "include_dirs": ["native"],
      "defines": ["UMASIM_CUDA=11"],
      "ldflags": ["-static-libstdc++", "-static-libgcc", "-Wl,--version-script=<(module_root_dir)/native/sim/libcudart/cuda11.map"]
    },
    {
      "target_name": "umasim-cudart12",
      "type": "shared_library",
      "product_prefix": "lib",
      "product_dir": "<(PRODUCT_DIR)",
      "dependencies": ["umasim"],
      "sources": ["native/sim/libcudart/libcudart.cc"],
      "include_dirs": ["native"],
      "defines": ["UMASIM_CUDA=12"],
      "ldflags": ["-static-libstdc++", "-static-libgcc", "-Wl,--version-script=<(module_root_dir)/native/sim/libcudart/cuda12.map"]
    },
    {
      "target_name": "umasim-cudart13",
      "type": "shared_library",
      "product_prefix": "lib",
      "product_dir": "<(PRODUCT_DIR)",
      "dependencies": ["umasim"],
      "sources": ["native/sim/libcudart/libcudart.cc"],
      "include_dirs": ["native"],
      "defines": ["UMASIM_CUDA=13"],
      "ldflags": ["-static-libstdc++", "-static-libgcc", "-Wl,--version-script=<(module_root_dir)/native/sim/libcudart/cuda13.map"]
    },
    # The program nvidia-smi of the simulated machine.
    {
      "target_name": "umasim-nvidia-smi",
      "type": "executable",
      "dependencies": ["umasim"],
      "sources": ["native/sim/programs/nvidia_smi.cc"],
      "include_dirs": ["native"],
      "ldflags": ["-static-libstdc++", "-static-libgcc", "-Wl,--no-export-dynamic"]
    }
  ]
}
