/// How an operation on a document or a store is executed: on the rows of the store, with managed objects, or both. The
/// result is the same; rows are several times faster.
///
/// `BatchImporter.explain(_:entity:progress:)`, `GraphExporter.explainStore(of:)` and `GraphCopier.explain(_:in:)` return
/// the path of an operation before it is executed.
package enum ExecutionPath: Sendable, Hashable, CustomStringConvertible {
    /// The rows of the store are read or written, without managed objects.
    case rows
    /// Managed objects are created for some records of a document, and the rows of the others are written. The reason is that of
    /// the first of these records.
    case rowsAndObjects(records: Int, because: ObjectsReason)
    /// Managed objects are created.
    case objects(because: ObjectsReason)

    /// Why managed objects are created; nil if they are not.
    package var reason: ObjectsReason? {
        switch self {
        case .rows: nil
        case .rowsAndObjects(_, let reason), .objects(let reason): reason
        }
    }

    package var description: String {
        switch self {
        case .rows: "by rows"
        case .rowsAndObjects(let records, let reason):
            "by rows, and \(records) \(records == 1 ? "record" : "records") through objects: \(reason)"
        case .objects(let reason): "through objects: \(reason)"
        }
    }
}

/// Why an operation creates managed objects instead of working on rows.
package struct ObjectsReason: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kind of reason.
    package var code: Code
    /// The reason, in one sentence.
    package var message: String
    /// The entity that it concerns; nil if it concerns the whole operation.
    package var entity: String?
    /// The property that it concerns.
    package var property: String?

    /// Creates a reason with a code, a sentence, and the entity and property that it concerns.
    package init(_ code: Code, _ message: String, entity: String? = nil, property: String? = nil) {
        self.code = code
        self.message = message
        self.entity = entity
        self.property = property
    }

    package var description: String { message }

    /// The kinds of reasons. A struct, so that adding one does not break a `switch`.
    package struct Code: Sendable, Hashable, RawRepresentable {
        package let rawValue: String
        package init(rawValue: String) { self.rawValue = rawValue }

        /// The program has no engine, and Core Data's public API has no access to rows.
        package static let publicAPI = Code(rawValue: "publicAPI")
        /// An option of the operation: a hook, a mapping, a policy, a format.
        package static let options = Code(rawValue: "options")
        /// The store is not an SQLite store of this package's engine, or there are several.
        package static let store = Code(rawValue: "store")
        /// An entity has a class of its own, whose overridden methods must be called.
        package static let classes = Code(rawValue: "classes")
        /// An entity or a property that rows do not support.
        package static let model = Code(rawValue: "model")
        /// Something in the document that only the object importer supports.
        package static let document = Code(rawValue: "document")
        /// Something in the store that only objects support, such as two objects with one key.
        package static let contents = Code(rawValue: "contents")
    }
}

/// The result of checking whether an operation can work on rows, with the plan for it.
package enum RowCapability<Plan> {
    case rows(Plan)
    case objects(because: ObjectsReason)

    /// Calls a function that returns a plan or throws a reason. Throws its other errors.
    package init(_ plan: () throws -> Plan) throws {
        do {
            self = .rows(try plan())
        } catch let reason as ObjectsReason {
            self = .objects(because: reason)
        }
    }

    package var path: ExecutionPath {
        switch self {
        case .rows: .rows
        case .objects(let reason): .objects(because: reason)
        }
    }
}

extension ObjectsReason {
    /// The reason in a program without an engine.
    static let publicAPI = ObjectsReason(
        .publicAPI, "Core Data's public API, which this program uses, has no access to rows.")
}
