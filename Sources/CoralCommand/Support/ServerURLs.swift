import Coral

/// The URLs of stores in PostgreSQL on the command line. They may contain passwords, which are omitted from all output.
enum ServerURLs {
    /// Whether an argument is such a URL.
    static func isOne(_ argument: String) -> Bool {
        ["postgresql://", "postgres://"].contains(where: argument.lowercased().hasPrefix)
    }

    /// The URLs among the arguments, also those of options in the form `--option=URL`.
    private static let all = CommandLine.arguments.dropFirst().compactMap { argument -> String? in
        let value =
            argument.hasPrefix("--") ? argument.drop { $0 != "=" }.dropFirst() : Substring(argument)
        return isOne(String(value)) ? String(value) : nil
    }

    /// Rejects the URLs if the command was built without the trait, or if one of them cannot be read.
    ///
    /// Throws `CommandError`.
    static func requireUsable() throws {
        guard !all.isEmpty else { return }
        #if PostgreSQL
            guard all.allSatisfy({ URL(string: $0) != nil }) else {
                throw CommandError(
                    "The URL of a store in PostgreSQL has the form postgresql://user@host:port/database?schema=name. Other "
                        + "characters than letters and digits in names are percent-encoded; several hosts with ports are written "
                        + "as ?host=first,second&port=5432,5433.")
            }
        #else
            throw CommandError(
                "Stores in PostgreSQL need the trait PostgreSQL of this package, with which the command was not built. It opens "
                    + "stores in files.")
        #endif
    }

    /// An argument that names a store or a document, as messages contain it: a URL without its password.
    static func shown(_ argument: String) -> String {
        isOne(argument) ? URL(storeAt: argument).storeName : argument
    }

    /// A text without the passwords of the URLs.
    static func withoutPasswords(_ text: String) -> String { all.reduce(text) { withoutPassword($0, of: $1) } }

    /// A text without the password of a URL.
    static func withoutPassword(_ text: String, of argument: String) -> String {
        guard isOne(argument) else { return text }
        let name = URL(string: argument)?.withoutPassword.absoluteString ?? "postgresql:"
        let url = URL(string: argument)?.absoluteString ?? argument
        return [argument, url].reduce(text) { $0.replacingOccurrences(of: $1, with: name, options: .literal) }
    }
}

extension URL {
    /// The location of the store that an argument names: a path, or the URL of a store in PostgreSQL.
    init(storeAt argument: String) {
        let server = ServerURLs.isOne(argument) ? URL(string: argument) : nil
        self = server ?? URL(fileURLWithPath: argument)
    }
}
