import MachO
