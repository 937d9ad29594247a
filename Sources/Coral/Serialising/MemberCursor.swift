#if !canImport(Darwin) && !CORAL_PUBLIC_API

    @_spi(Stores) import ManagedObjects

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

#endif
