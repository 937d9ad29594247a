import Coral
import CoreData
import GraphDocuments
import ManagedObjects
import SQLStores

extension RowExport {
    /// The columns and members of one entity's rows.
    struct Table {
        var entity: NSEntityDescription
        var columns: [StoreRows.Column] = []
        var members: [Member] = []

        /// Adds columns, and returns the index of the first.
        mutating func add(_ added: [StoreRows.Column]) -> Int32 {
            columns += added
            return Int32(columns.count - added.count + 1)
        }
    }

    // Classes, because copying the codecs for each value of each row would cost as much as writing it.

    final class Member {
        let key: JSONWriter.Key
        let content: Content

        init(key: JSONWriter.Key, content: Content) {
            (self.key, self.content) = (key, content)
        }
    }

    enum Content {
        case attribute(Attribute)
        case toOne(ToOne)
        case toMany(ToMany)
    }

    final class Attribute {
        let codec: any RowCodec
        let column: Int32

        init(_ codec: any RowCodec, column: Int32) {
            (self.codec, self.column) = (codec, column)
        }
    }

    final class ToOne {
        let relationship: NSRelationshipDescription
        let destination: NSEntityDescription
        /// The columns with the stored key, and with the key of the existing destination.
        let held: Int32
        let found: Int32
        /// The values of the destination's natural key, and the first of their columns.
        let parts: [any RowCodec]
        let first: Int32

        init(
            _ relationship: NSRelationshipDescription, to destination: NSEntityDescription, held: Int32,
            found: Int32, parts: [any RowCodec], first: Int32
        ) {
            (self.relationship, self.destination) = (relationship, destination)
            (self.held, self.found) = (held, found)
            (self.parts, self.first) = (parts, first)
        }
    }

    final class ToMany {
        let relationship: NSRelationshipDescription
        let destination: NSEntityDescription
        let columns: [StoreRows.Column]
        let parts: [any RowCodec]

        init(
            _ relationship: NSRelationshipDescription, to destination: NSEntityDescription,
            columns: [StoreRows.Column], parts: [any RowCodec]
        ) {
            (self.relationship, self.destination) = (relationship, destination)
            (self.columns, self.parts) = (columns, parts)
        }
    }
}

/// A cursor over the members of one relationship, with the owner of the current member.
struct MemberCursor {
    let cursor: RowCursor
    /// The owner of the current member; nil after the last.
    private(set) var owner: Int64?

    init(_ cursor: RowCursor) throws {
        self.cursor = cursor
        try advance()
    }

    /// Calls a function with each member of an owner. Owners must be given in the order of their keys.
    mutating func forEachMember(of key: Int64, _ body: (RowCursor) throws -> Void) throws {
        // Skips rows of subentities that inherit the relationship.
        while let found = owner, found <= key {
            if found == key { try body(cursor) }
            try advance()
        }
    }

    private mutating func advance() throws {
        owner = try cursor.next() ? cursor.integer(0) : nil
    }
}
