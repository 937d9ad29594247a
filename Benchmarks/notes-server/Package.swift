// swift-tools-version: 6.1
import PackageDescription

// The service of Examples/Packages/NotesServer, and the same routes on GRDB and on libpq. `run` compares them.
let package = Package(
    name: "notes-servers",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(path: "../../Examples/Packages/NotesServer"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    ],
    targets: [
        .systemLibrary(name: "CLibPQ", providers: [.apt(["libpq-dev"])]),
        // The routes, on any source of notes.
        .target(name: "Peers", dependencies: [.product(name: "Hummingbird", package: "hummingbird")]),
        .executableTarget(name: "grdb-notes", dependencies: ["Peers", .product(name: "GRDB", package: "GRDB.swift")]),
        .executableTarget(name: "libpq-notes", dependencies: ["Peers", "CLibPQ"]),
    ],
    swiftLanguageModes: [.v6]
)
