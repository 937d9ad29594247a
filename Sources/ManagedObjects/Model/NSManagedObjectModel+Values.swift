import Foundation
import ModelFiles

extension NSManagedObjectModel {
    /// Creates a model from a plain value.
    ///
    /// - Throws: `ModelError` if the value is inconsistent.
    internal convenience init(value: Model) throws {
        self.init()
        var reader = ModelValueReader()
        try reader.read(value, into: self)
    }

    /// The model as a plain value. Cost: one value for each entity and property.
    internal final func modelValue() -> Model { ModelValueWriter().value(of: self) }
}
