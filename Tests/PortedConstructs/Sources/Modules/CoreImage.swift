import CoreImage
