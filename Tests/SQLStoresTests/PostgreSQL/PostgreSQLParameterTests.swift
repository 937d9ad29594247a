#if PostgreSQL
    import Foundation
    import Testing

    @testable import PostgreSQLClient

    /// What the client decides before it sends a statement: its form, and the sizes of its parameters. No server is needed.
    @Suite struct PostgreSQLParameterTests {
        private func text(_ sql: String) -> PreparedTexts.Text { PreparedTexts.Text(sql: sql, types: []) }

        @Test func `a text is prepared when it is executed the second time`() {
            var texts = PreparedTexts(limit: 2)
            #expect(texts.form(of: text("a")) == .unprepared)
            #expect(texts.isToPrepare(text("a")))
            #expect(texts.form(of: text("a")) == .new("s1"))
            #expect(texts.form(of: text("a")) == .prepared("s1"))
            #expect(!texts.isToPrepare(text("a")))
        }

        @Test func `statements that the server could not prepare leave their places to others`() {
            var texts = PreparedTexts(limit: 2)
            var names: Set<PreparedTexts.Form> = []
            for number in 0..<10 {
                let failing = text("failing \(number)")
                #expect(texts.form(of: failing) == .unprepared)
                let form = texts.form(of: failing)
                #expect(form == .new("s\(number + 1)"))
                names.insert(form)
                texts.forget(failing)
                // A failure that is reported twice frees one place.
                texts.forget(failing)
                #expect(texts.isToPrepare(failing))
            }
            // A name is never given twice.
            #expect(names.count == 10)
            for (sql, name) in [("a", "s11"), ("b", "s12")] {
                #expect(texts.form(of: text(sql)) == .unprepared)
                #expect(texts.form(of: text(sql)) == .new(name))
            }
            // The limit holds.
            #expect(texts.form(of: text("c")) == .unprepared)
            #expect(texts.form(of: text("c")) == .unprepared)
            #expect(!texts.isToPrepare(text("c")))
        }

        @Test func `values that are together too large are refused before they are sent`() throws {
            var array = PostgreSQLArray(of: .text)
            array.append("0123456789")
            for (values, size) in [
                ([.text("0123456789")], 10), ([.bytes(Data(count: 7)), .null, .text("é")], 9),
                ([.integer(1), .real(2)], 16),
                // The header of 20 bytes, and the length of the element.
                ([.array(array)], 34),
            ] as [([PostgreSQLValue], Int)] {
                #expect(try PostgreSQLParameters(values, limit: size).byteCount == size)
                let error = #expect(throws: PostgreSQLError.self) { try PostgreSQLParameters(values, limit: size - 1) }
                #expect(error?.state == "54000" && error?.isConnectionLost == false)
            }
            try PostgreSQLParameters([.text("abc"), .null, .bytes(Data([1]))]).withPointers { pointers in
                #expect(pointers.lengths == [3, 0, 1])
                #expect(pointers.values.map { $0 == nil } == [false, true, false])
            }
        }
    }
#endif
