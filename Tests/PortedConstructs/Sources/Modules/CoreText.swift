import CoreText
