import CoreDataErrors
import Foundation
import ManagedObjects
import PredicateLanguage

/// The name of a section. Texts that are canonically equivalent are different names, as they are different values for a store.
struct SectionName: Hashable, Sendable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (one: SectionName, other: SectionName) -> Bool { one.text.hasSameBytes(as: other.text) }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// Determines the name of an object's section.
struct SectionNaming {
    /// The key path whose values name sections; nil if all objects are in one section.
    let keyPath: String?
    private let reader: ExpressionEvaluator?

    /// - Throws: Code 134060 if the key path is invalid.
    init(_ keyPath: String?) throws {
        self.keyPath = keyPath
        reader = try keyPath.map { keyPath in
            try RowSelection.explaining(keyPath) { try ExpressionEvaluator(.keyPath(keyPath)) }
        }
    }

    /// The name of an object's section: the value at the key path as text, empty if it is nil or cannot be read.
    func name(of object: NSManagedObject) -> SectionName {
        guard let reader, let keyPath, let value = try? reader.value(for: object) else { return SectionName("") }
        // A number of single precision has fewer digits than the double that it is compared as.
        if value is Double, let number = object.value(forKeyPath: keyPath) as? NSNumber,
            number.objCType.pointee == CChar(bitPattern: UInt8(ascii: "f")),
            Int64(exactly: number.doubleValue) == nil
        {
            return SectionName(number.floatValue.description)
        }
        return SectionName(Self.text(of: PredicateValue(value), value))
    }

    /// Reads the section name of an object.
    ///
    /// - Throws: Code 134060 if the objects do not have the key path's keys: outside Apple's platforms key-value coding
    ///   finds the properties of the model only, not those of a class.
    func check(_ object: NSManagedObject) throws {
        guard let reader, let keyPath else { return }
        do {
            _ = try reader.value(for: object)
        } catch {
            let reason = (error as? PredicateEvaluationError)?.message ?? (error as NSError).localizedDescription
            throw CocoaError(.coreData, "Sections cannot be named by “\(keyPath)”. \(reason)")
        }
    }

    /// A value as Foundation describes it: Booleans are 1 and 0, and integers have no fraction.
    private static func text(of value: PredicateValue, _ original: Any) -> String {
        switch value {
        case .null: ""
        case .bool(let value): value ? "1" : "0"
        case .integer(let value): String(value)
        case .double(let value): Int64(exactly: value).map { String($0) } ?? String(value)
        case .decimal(let value): value.description
        case .string(let value): value
        case .date(let value): value.description
        case .uuid(let value): value.uuidString
        case .url(let value): value.absoluteString
        default: String(describing: original)
        }
    }

    /// The error for a section whose objects are not adjacent.
    func isOutOfOrder(_ name: SectionName, at position: Int) -> CocoaError {
        CocoaError(
            .coreData,
            "The object at index \(position) has the section name “\(name.text)”, which preceding objects have that are not "
                + "adjacent. The first sort descriptor must order objects as the section key path “\(keyPath ?? "")” does."
        )
    }
}
