import Foundation

/// A value of a column or of a statement's parameter, in one of the types that databases have.
package enum ColumnValue: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)

    /// A text, or NULL.
    @inlinable
    package init(_ text: String?) { self = text.map(ColumnValue.text) ?? .null }

    /// The bytes of a UUID.
    package init(_ uuid: UUID) { self = .blob(withUnsafeBytes(of: uuid.uuid) { Data($0) }) }

    @inlinable
    package var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension ColumnValue: Equatable {
    /// Whether two values are equal, as SQL compares them: a whole number equals a real number of the same size. NULL equals NULL.
    package static func == (one: ColumnValue, other: ColumnValue) -> Bool {
        switch (one, other) {
        case (.null, .null): true
        case (.integer(let one), .integer(let other)): one == other
        case (.real(let one), .real(let other)): one == other
        case (.integer(let one), .real(let other)), (.real(let other), .integer(let one)): Int64(exactly: other) == one
        case (.text(let one), .text(let other)): one == other
        case (.blob(let one), .blob(let other)): one == other
        default: false
        }
    }
}

extension ColumnValue: CustomStringConvertible {
    package var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text): text.debugDescription
        case .blob(let data): data.description
        }
    }
}

// MARK: - Conversions

// A column of a store may contain a value of any type, so that a value is converted if the conversion loses nothing of its meaning.

extension ColumnValue {
    /// A whole number, or a real one without its fraction.
    package var integerValue: Int64? {
        switch self {
        case .integer(let number): number
        case .real(let number): Int64(exactly: number.rounded(.towardZero))
        case .null, .text, .blob: nil
        }
    }

    /// A number as a real one.
    package var realValue: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .null, .text, .blob: nil
        }
    }

    /// A text, or bytes that are one in UTF-8.
    package var textValue: String? {
        switch self {
        case .text(let text): text
        case .blob(let data): String(data: data, encoding: .utf8)
        case .null, .integer, .real: nil
        }
    }

    /// Bytes, or those of a text in UTF-8.
    package var blobValue: Data? {
        switch self {
        case .blob(let data): data
        case .text(let text): Data(text.utf8)
        case .null, .integer, .real: nil
        }
    }

    /// A UUID from its bytes or its text.
    package var uuidValue: UUID? {
        switch self {
        case .blob(let data) where data.count == 16:
            UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
        case .text(let text): UUID(uuidString: text)
        case .null, .integer, .real, .blob: nil
        }
    }
}
