import CoralObservability
import Foundation
import Hummingbird
import Logging
import NotesServer

// NOTES_STORES is a folder, or the URL of a PostgreSQL database; NOTES_TENANTS is a list of tenants with their tokens.
let environment = ProcessInfo.processInfo.environment
guard let location = environment["NOTES_STORES"], let tenants = environment["NOTES_TENANTS"] else {
    FileHandle.standardError.write(Data("usage: NOTES_STORES=FOLDER NOTES_TENANTS=NAME:TOKEN,… notes-server\n".utf8))
    exit(64)
}

let logger = Logger(label: "notes")
// A program bootstraps its own metrics system here, such as that of Prometheus, and its tracer.
StoreObservability(logger: logger, slowStatement: .milliseconds(100)).start()

var stores: [String: NoteStore] = [:]
for tenant in tenants.split(separator: ",") {
    let parts = tenant.split(separator: ":", maxSplits: 1).map(String.init)
    guard parts.count == 2 else { continue }
    stores[parts[1]] = try NoteStore(tenant: parts[0], in: location)
}
let address = BindAddress.hostname(
    environment["NOTES_HOST"] ?? "127.0.0.1", port: environment["NOTES_PORT"].flatMap(Int.init) ?? 8080)
try await notesServer(stores: stores, address: address, logger: logger).runService()
