import ArgumentParser
import AtomicFiles
import Coral

#if STORE_ENGINE
    import struct SQLStores.StoreInspection
#endif

/// The stores of a job, and how many of them it works on at the same time.
struct FleetOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Files with a path or URL of a store on each line, - for standard input, or stores.", valueName: "list"),
        completion: .file())
    var lists: [String]

    @Option(
        name: .long, help: ArgumentHelp("How many stores are worked on at the same time, at most.", valueName: "number")
    )
    var jobs = 4

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The lines of an earlier run with --json: the stores that it has completed are omitted.", valueName: "file"),
        completion: .file(extensions: ["jsonl"]))
    var resume: String?

    @Flag(name: .long, help: "Print a line of JSON for each store.")
    var json = false

    @OptionGroup var quiet: QuietOption

    func validate() throws {
        guard (1...256).contains(jobs) else { throw ValidationError("--jobs is a number from 1 to 256.") }
        guard !lists.isEmpty else { throw ValidationError("Name a list of stores, or - for standard input.") }
    }

    /// The arguments of the stores in their order, each once: standard input can be read only once. Throws `CommandError` with the place of a line.
    ///
    /// - Parameter expands: Whether `*` in the schema of a URL stands for the existing stores.
    func stores(expands: Bool = true) throws -> [String] {
        var known: Set<String> = []
        var stores: [String] = []
        for list in lists {
            for (line, place) in try Self.lines(of: list) {
                for store in try expands ? Self.expanded(line, place) : [line] where known.insert(store).inserted {
                    stores.append(store)
                }
            }
        }
        guard !stores.isEmpty else {
            throw CommandError("There are no stores in \(lists.map(ServerURLs.shown).joined(separator: ", ")).")
        }
        return stores
    }

    /// The lines of a list with their places; a store is its own list.
    private static func lines(of list: String) throws -> [(line: String, place: String)] {
        let document = InputDocument(argument: list)
        if ServerURLs.isOne(list) || document?.isStore == true { return [(list, ServerURLs.shown(list))] }
        let data: Data
        if list == "-" {
            data = (try? FileHandle.standardInput.readToEnd()) ?? Data()
        } else {
            guard let status = FileStatus(list), !status.isFolder,
                let content = FileManager.default.contents(atPath: list)
            else {
                throw CommandError(
                    "There is no list of stores at \(list). Name a file with a path or URL on each line, - for standard input, or "
                        + "a store.")
            }
            data = content
        }
        guard let text = String(data: data, encoding: .utf8) else {
            throw CommandError("\(list) is not a text in UTF-8 with a path or URL on each line.")
        }
        let name = list == "-" ? "standard input" : list
        // A carriage return and a line feed are one `Character`.
        let lines = text.split(omittingEmptySubsequences: false, whereSeparator: { ["\n", "\r\n"].contains($0) })
        return lines.enumerated().compactMap { number, line in
            let line = line.trimmingCharacters(in: .whitespaces.union(.newlines))
            return line.isEmpty || line.hasPrefix("#") ? nil : (line, "\(name), line \(number + 1)")
        }
    }

    private static func expanded(_ line: String, _ place: String) throws -> [String] {
        guard ServerURLs.isOne(line), let start = line.range(of: "schema="),
            line[start.upperBound...].prefix(while: { $0 != "&" }).contains("*")
        else { return [line] }
        #if STORE_ENGINE
            guard let url = URL(string: line) else {
                throw CommandError("\(place): this is not the URL of a store in PostgreSQL.")
            }
            let found = try StoreInspection.stores(matching: url).map(\.absoluteString)
            guard !found.isEmpty else {
                throw CommandError(
                    "\(place): the database has no store whose schema matches \(url.storeName).")
            }
            return found
        #else
            throw CommandError("\(place): on this system the schemas of a server cannot be listed. Name each store.")
        #endif
    }

    /// The outcomes of an earlier run, by store. Throws `CommandError` with the number of a line.
    func earlier(of command: String) throws -> [String: FleetOutcome] {
        guard let resume else { return [:] }
        guard let data = FileManager.default.contents(atPath: resume) else {
            throw CommandError("There is no file \(resume). It has the lines of an earlier run with --json.")
        }
        var outcomes: [String: FleetOutcome] = [:]
        let lines = data.split(separator: 10, omittingEmptySubsequences: false)
        // A process that was killed may have written a part of the last line.
        for (number, line) in lines.dropLast().enumerated() where !line.isEmpty {
            guard let outcome = try? JSONDecoder().decode(FleetOutcome.self, from: Data(line)) else {
                throw CommandError("\(resume), line \(number + 1) is not a line of coral fleet \(command) --json.")
            }
            guard outcome.command == command else {
                throw CommandError(
                    "\(resume), line \(number + 1) is of coral fleet \(outcome.command), not of coral fleet \(command)."
                )
            }
            outcomes[outcome.store] = outcome
        }
        return outcomes.filter { $0.value.outcome != .failed }
    }
}
