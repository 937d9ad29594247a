#if !canImport(Darwin) && !CORAL_PUBLIC_API

    @_spi(Stores) import ManagedObjects

    /// The members of one relationship, as far as they were read.
    struct MemberCursor {
        let cursor: RowCursor
        /// The owner of the member that the cursor is at; nil behind the last.
        private(set) var owner: Int64?

        init(_ cursor: RowCursor) throws {
            self.cursor = cursor
            try advance()
        }

        mutating func advance() throws {
            owner = try cursor.next() ? cursor.integer(0) : nil
        }
    }

#endif
