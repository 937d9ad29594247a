import CoralObservability
import Foundation
import Hummingbird
import Logging
import NotesServer

// NOTES_STORES is a folder, or the URL of a PostgreSQL database; NOTES_TENANTS is a list of tenants with their tokens, which are
// separated by commas or line breaks. Only the stores that requests use are open.
let environment = ProcessInfo.processInfo.environment
guard let location = environment["NOTES_STORES"], let list = environment["NOTES_TENANTS"] else {
    FileHandle.standardError.write(Data("usage: NOTES_STORES=FOLDER NOTES_TENANTS=NAME:TOKEN,… notes-server\n".utf8))
    exit(64)
}

let logger = Logger(label: "notes")
// A program bootstraps its own metrics system here, such as that of Prometheus, and its tracer.
StoreObservability(logger: logger, slowStatement: .milliseconds(100)).start()

var tenants: [String: String] = [:]
for tenant in list.split(whereSeparator: { $0 == "," || $0.isNewline }) {
    let parts = tenant.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { continue }
    tenants[parts[1]] = parts[0]
}
let address = BindAddress.hostname(
    environment["NOTES_HOST"] ?? "127.0.0.1", port: environment["NOTES_PORT"].flatMap(Int.init) ?? 8080)
let server = notesServer(stores: try NoteStores(in: location), tenants: tenants, address: address, logger: logger)
try await server.runService()
