import CoreML
