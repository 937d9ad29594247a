import Accelerate
