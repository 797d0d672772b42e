//! What the examples of nvml-wrapper ask, of the first device.
use nvml_wrapper::{enum_wrappers::device::*, enums::device::UsedGpuMemory, Nvml};

fn main() {
    let nvml = Nvml::init().expect("NVML");
    println!("driver {:?}", nvml.sys_driver_version());
    let device = nvml.device_by_index(0).expect("device");
    println!("name {:?}", device.name());
    println!("brand {:?}", device.brand());
    println!("architecture {:?}", device.architecture());
    println!("memory {:?}", device.memory_info());
    println!("bar1 {:?}", device.bar1_memory_info().map(|bar| bar.total));
    println!("temperature {:?}", device.temperature(TemperatureSensor::Gpu));
    println!("shutdown {:?}", device.temperature_threshold(TemperatureThreshold::Shutdown));
    println!("fan {:?} of {:?}", device.fan_speed(0), device.num_fans());
    println!("limit {:?}", device.enforced_power_limit());
    println!("link {:?} {:?}", device.current_pcie_link_gen(), device.current_pcie_link_width());
    println!("encoder {:?}", device.encoder_utilization().map(|used| used.utilization));
    println!("persistent {:?}", device.is_in_persistent_mode());
    println!("serial {:?}", device.serial());
    println!("cores {:?}", device.num_cores());
    println!("bus {:?}", device.pci_info().map(|pci| pci.bus_id));
    for process in device.running_compute_processes().expect("processes") {
        if let UsedGpuMemory::Used(bytes) = process.used_gpu_memory {
            println!("process {bytes}");
        }
    }
}
