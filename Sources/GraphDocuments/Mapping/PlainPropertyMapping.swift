/// What a mapping says of one property of a plain Swift object, made ready: the same rules that attributes of entities have.
package struct PlainPropertyMapping {
    private let paths: [MappedPath]
    private let functions: MappedFunctions
    private let dates: MappedDateCoder?
    private let defaultValue: GraphValue?
    package let isRead: Bool
    package let isWritten: Bool

    /// Throws `MappingError` for keys that are no paths and transformers that nobody knows.
    ///
    /// - Parameters:
    ///   - keys: What documents call a property that has no keys of its own.
    ///   - dates: How dates look, where the property does not say it.
    package init(
        _ mapping: PropertyMapping, of property: String, in type: String, keys: KeyStrategy, dates: MappedDates?,
        transformers: MappedFunctionLookup
    ) throws {
        func mistake(_ code: MappingMistake.Code, _ message: String) -> MappingError {
            MappingError([MappingMistake(code, message, entity: type, property: property)])
        }
        let names = mapping.keys.isEmpty ? keys.keys(of: property, in: type) : mapping.keys
        paths = try names.map { name in
            guard let path = MappedPath(name), path.place == nil else {
                throw mistake(.wrongPath, "The key \"\(name)\" is no path to a value.")
            }
            return path
        }
        switch mapping.transformer {
        case .functions(let read, let write)?: functions = MappedFunctions(read: read, write: write)
        case .named(let name)?:
            guard let known = transformers(name) else {
                throw mistake(.unknownTransformer, "No transformer \"\(name)\" is registered.")
            }
            functions = known
        case nil: functions = MappedFunctions(read: nil, write: nil)
        }
        self.dates = (mapping.dates ?? dates).map(MappedDateCoder.init)
        defaultValue = mapping.defaultValue
        isRead = mapping.direction.isRead
        isWritten = mapping.direction.isWritten
    }

    /// The members at the top that the property may stand under.
    package var firstMembers: [String] { paths.compactMap(\.firstMember) }

    /// The value that a document has, and its path; nil where it has none. `isNew` where defaults count.
    package func value(in tree: ReadableValue, isNew: Bool) throws -> (value: ReadableValue, path: String)? {
        for path in paths {
            guard let value = tree.value(at: path.steps) else { continue }
            return (try functions.read.map { try $0(value) ?? .value(.null) } ?? value, path.text)
        }
        guard isNew, let defaultValue, let path = paths.first else { return nil }
        return (.value(defaultValue), path.text)
    }

    /// A value in which dates may stand as the mapping has them.
    package func readingDates(_ tree: ReadableValue) -> ReadableValue {
        guard let dates else { return tree }
        switch tree {
        case .value(let value): return dates.read(value).map { .value($0) } ?? tree
        case .array(let values): return .array(values.map { readingDates($0) })
        case .dictionary: return tree
        }
    }

    /// Puts the property's value where it is written.
    package func put(_ tree: ReadableValue, into members: inout [ReadableValue.Member]) throws {
        guard let path = paths.first else { return }
        let value = writingDates(tree)
        members.put(try functions.write.map { try $0(value) ?? .value(.null) } ?? value, at: path.steps[...])
    }

    private func writingDates(_ tree: ReadableValue) -> ReadableValue {
        guard let dates else { return tree }
        switch tree {
        case .value(.date(let seconds)): return .value(dates.write(seconds))
        case .array(let values): return .array(values.map { writingDates($0) })
        default: return tree
        }
    }
}

/// How the dates of a value of any type look, which has no declaration of its own.
package struct PlainDates {
    private let coder: MappedDateCoder

    package init(_ dates: MappedDates) { coder = MappedDateCoder(dates) }

    /// A date; nil where the value is none in any form.
    package func read(_ value: GraphValue) -> GraphValue? { coder.read(value) }
    /// What is written for a date.
    package func write(_ seconds: Double) -> GraphValue { coder.write(seconds) }
}
