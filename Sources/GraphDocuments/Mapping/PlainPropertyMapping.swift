/// The mapping of one property of a plain Swift object, compiled: the same rules as for attributes of entities.
package struct PlainPropertyMapping {
    private let paths: [MappedPath]
    private let functions: MappedFunctions
    private let dates: MappedDateCoder?
    private let defaultValue: GraphValue?
    package let isRead: Bool
    package let isWritten: Bool

    /// Throws `MappingError` for invalid paths and unknown transformers.
    ///
    /// - Parameters:
    ///   - keys: The keys of a property without declared ones.
    ///   - dates: The format of dates, if the property has none of its own.
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
                throw mistake(.wrongPath, "The key \"\(name)\" is not a valid path.")
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

    /// The first members of the property's paths.
    package var firstMembers: [String] { paths.compactMap(\.firstMember) }

    /// The value in a document, and its path; nil if it has none. With `isNew`, defaults are used.
    package func value(in tree: ReadableValue, isNew: Bool) throws -> (value: ReadableValue, path: String)? {
        for path in paths {
            guard let value = tree.value(at: path.steps) else { continue }
            return (try functions.read.map { try $0(value) ?? .value(.null) } ?? value, path.text)
        }
        guard isNew, let defaultValue, let path = paths.first else { return nil }
        return (.value(defaultValue), path.text)
    }

    /// A value with its dates converted from the mapping's format.
    package func readingDates(_ tree: ReadableValue) -> ReadableValue {
        guard let dates else { return tree }
        switch tree {
        case .value(let value): return dates.read(value).map { .value($0) } ?? tree
        case .array(let values): return .array(values.map { readingDates($0) })
        case .dictionary: return tree
        }
    }

    /// Writes the property's value at its path.
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

/// Converts the dates in values of any type that have no declaration of their own.
package struct PlainDates {
    private let coder: MappedDateCoder

    package init(_ dates: MappedDates) { coder = MappedDateCoder(dates) }

    /// A date; nil if the value is not a date in any format.
    package func read(_ value: GraphValue) -> GraphValue? { coder.read(value) }
    /// The value written for a date.
    package func write(_ seconds: Double) -> GraphValue { coder.write(seconds) }
}
