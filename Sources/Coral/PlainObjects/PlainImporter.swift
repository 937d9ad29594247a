import Foundation
import GraphDocuments

/// Reads plain Swift objects and values from documents: JSON, our XML, property lists, dictionaries, of anybody's making.
///
///     let settings = try PlainImporter().decode(Settings.self, from: json)     // `Settings` is Decodable
///     let person = try PlainImporter().make(Person.self, from: plist)          // `Person` is Mapped
///     try PlainImporter().fill(person, from: xml)
///
/// What a document does not mention stays as it is; null clears what can be nil. Values are converted to the types of
/// properties where that loses nothing (see `PlainImportOptions`).
public struct PlainImporter {
    /// How documents become objects.
    public var options: PlainImportOptions

    /// An importer with options.
    public init(_ options: PlainImportOptions = PlainImportOptions()) {
        self.options = options
    }

    /// Where a plain import reads from.
    private enum Source {
        case data(Data)
        case object(Any)
    }

    // MARK: - Decodable

    /// A decodable value from a document of any format, which its first bytes tell.
    ///
    /// Throws `DocumentError` for what cannot be read, `PlainObjectError` for what does not fit, and what decoding throws.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try decode(type, from: .data(data))
    }

    /// A decodable value from Foundation's objects: a dictionary, an array or a scalar.
    public func decode<Value: Decodable>(_ type: Value.Type, fromFoundationObject object: Any) throws -> Value {
        try decode(type, from: .object(object))
    }

    private func decode<Value: Decodable>(_ type: Value.Type, from source: Source) throws -> Value {
        let tree = try tree(source)
        return try read { try $0.value(type, from: tree, at: PlainPath()) }
    }

    // MARK: - Mapped classes

    /// Makes an instance of a mapped class from a document. Throws as `decode` does.
    public func make<Object: Mapped>(_ type: Object.Type, from data: Data) throws -> Object {
        try make(type, from: .data(data))
    }

    /// Makes an instance of a mapped class from a dictionary.
    public func make<Object: Mapped>(_ type: Object.Type, from dictionary: [String: Any]) throws -> Object {
        try make(type, from: .object(dictionary))
    }

    private func make<Object: Mapped>(_ type: Object.Type, from source: Source) throws -> Object {
        let object = Object()
        try fill(object, from: source, isNew: true)
        return object
    }

    /// Makes instances of a mapped class from a document that is an array. Those that refer to one object share it.
    public func makeAll<Object: Mapped>(_ type: Object.Type, from data: Data) throws -> [Object] {
        let tree = try tree(.data(data))
        return try read { try $0.value([Object].self, from: tree, at: PlainPath()) }
    }

    /// Fills an instance that there is. Objects that its properties hold are filled, too; collections are replaced.
    ///
    /// Throws as `make` does; then nothing has changed.
    public func fill(_ object: some Mapped, from data: Data) throws {
        try fill(object, from: .data(data))
    }

    /// Fills an instance that there is from a dictionary.
    public func fill(_ object: some Mapped, from dictionary: [String: Any]) throws {
        try fill(object, from: .object(dictionary))
    }

    private func fill(_ object: some Mapped, from source: Source, isNew: Bool = false) throws {
        let tree = try tree(source)
        try read { try $0.fill(object, from: tree, isNew: isNew, at: PlainPath()) }
    }

    // MARK: - Reading

    private func read<Value>(_ body: (PlainReading) throws -> Value) throws -> Value {
        let reading = PlainReading(options)
        let value = try body(reading)
        reading.finish()
        return value
    }

    private func tree(_ source: Source) throws -> ReadableValue {
        switch source {
        case .data(let data): try TreeDocument.read(data, options: options.reading)
        case .object(let object): try TreeDocument.read(foundationObject: object, limits: options.reading.limits)
        }
    }
}
