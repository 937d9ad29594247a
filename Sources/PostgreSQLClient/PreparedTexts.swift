#if PostgreSQL
    /// The statements that a connection has prepared, by their texts. A text is prepared when it is executed the second time.
    struct PreparedTexts {
        struct Text: Hashable {
            let sql: String
            /// The types of the parameters.
            let types: [UInt32]
        }

        /// How a text is executed.
        enum Form: Hashable {
            case unprepared
            /// The statement must be prepared with this name first.
            case new(String)
            case prepared(String)
        }

        /// The names by text; nil for a text that was executed once.
        private var names: [Text: String?] = [:]
        /// The number of names that were given. A name is not used again: the server may have a statement of that name.
        private var nameCount = 0
        /// The number of statements that the server has.
        private var count = 0

        /// The maximum number of prepared statements; 0 if the connection cannot keep any.
        private let limit: Int

        init(limit: Int = 500) { self.limit = limit }

        /// The form in which a text is executed now.
        mutating func form(of text: Text) -> Form {
            switch names[text] {
            case .some(.some(let name)): return .prepared(name)
            case .none:
                guard limit > 0 else { return .unprepared }
                if names.count > 4 * limit { names = names.filter { $0.value != nil } }
                names[text] = .some(nil)
                return .unprepared
            case .some(.none):
                guard count < limit else { return .unprepared }
                count += 1
                nameCount += 1
                names[text] = "s\(nameCount)"
                return .new("s\(nameCount)")
            }
        }

        /// Whether a text is prepared when it is executed now.
        func isToPrepare(_ text: Text) -> Bool { names[text] == .some(.none) && count < limit }

        /// Records that the server has not prepared a text.
        mutating func forget(_ text: Text) {
            if case .some(.some) = names.updateValue(nil, forKey: text) { count -= 1 }
        }
    }
#endif
