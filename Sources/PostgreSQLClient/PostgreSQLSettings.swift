#if PostgreSQL
    import Foundation

    /// Settings of the server with which a connection executes its statements, such as `search_path`.
    package struct PostgreSQLSettings: Sendable, ExpressibleByDictionaryLiteral {
        package enum Value: Sendable {
            case text(String)
            /// A list of names of schemas.
            case names([String])

            /// The value as `set_config` takes it.
            fileprivate var text: String {
                switch self {
                case .text(let text): text
                case .names(let names): names.map(PostgreSQLConnection.quoted).joined(separator: ", ")
                }
            }

            /// The value as SET takes it, to which a list in quotes would be one name.
            fileprivate var expression: String {
                if case .text(let text) = self { Self.literal(text) } else { text }
            }

            /// A text in quotes, for servers with and without `standard_conforming_strings`.
            fileprivate static func literal(_ text: String) -> String {
                "E" + PostgreSQLConnection.literal(text.replacingOccurrences(of: "\\", with: "\\\\", options: .literal))
            }
        }

        private let values: [(name: String, value: Value)]

        package init(dictionaryLiteral elements: (String, Value)...) {
            values = elements.map { (name: $0.0, value: $0.1) }
        }

        var isEmpty: Bool { values.isEmpty }

        /// The beginning of a script whose transaction has the settings. A BEGIN with an isolation level may follow, because
        /// SET reads nothing.
        var script: String { values.map { "SET LOCAL \($0.name) TO \($0.value.expression); " }.joined() }

        /// Calls that set the settings, as the columns of a SELECT.
        ///
        /// - Parameter isLocal: An expression: whether the settings end with the transaction.
        func calls(isLocal: String) -> [String] {
            values.map { "set_config('\($0.name)', \(Value.literal($0.value.text)), \(isLocal))" }
        }
    }

    /// The place of a server: a host, or the folder of a socket, and a port.
    package struct PostgreSQLAddress: Sendable, Equatable {
        package let host: String
        package let port: String
        /// Whether the server is a standby. The connection is then made even if the URL demands a primary.
        package var isStandby = false
        /// The maximum number of seconds for connecting; nil means that of the URL. libpq waits for two seconds at least.
        package var timeout: Int?

        package init(host: String, port: String) {
            self.host = host
            self.port = port
        }

        /// The parameters with which libpq connects to the server.
        var parameters: [(String, String)] {
            var parameters = [("host", host), ("port", port)]
            if isStandby { parameters.append(("target_session_attrs", "any")) }
            if let timeout { parameters.append(("connect_timeout", "\(max(timeout, 2))")) }
            return parameters
        }
    }
#endif
