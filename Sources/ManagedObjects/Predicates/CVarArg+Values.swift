import Foundation

// On Apple's platforms every object can be a C argument, so that programs use `date as CVarArg` in the arguments of a
// format. Here only strings and numbers can. These conformances only make `as CVarArg` compile; predicate formats
// accept any value and do not read the encodings.

extension Date: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { timeIntervalSinceReferenceDate._cVarArgEncoding }
}

extension UUID: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { uuidString._cVarArgEncoding }
}

extension URL: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { absoluteString._cVarArgEncoding }
}

extension Data: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { description._cVarArgEncoding }
}

extension Array: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { String(describing: self)._cVarArgEncoding }
}

extension Set: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { String(describing: self)._cVarArgEncoding }
}

extension Dictionary: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { String(describing: self)._cVarArgEncoding }
}

extension NSNumber: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { stringValue._cVarArgEncoding }
}

extension NSDate: @retroactive CVarArg {
    public var _cVarArgEncoding: [Int] { timeIntervalSinceReferenceDate._cVarArgEncoding }
}

extension NSManagedObject: CVarArg {
    public var _cVarArgEncoding: [Int] { description._cVarArgEncoding }
}

extension NSManagedObjectID: CVarArg {
    public var _cVarArgEncoding: [Int] { description._cVarArgEncoding }
}
