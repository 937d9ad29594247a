// swift-tools-version: 6.1
import PackageDescription

// A service of notes on Hummingbird, for many tenants. README.md says how it is started and what it shows.
let package = Package(
    name: "NotesServer",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "NotesServer", targets: ["NotesServer"]),
        .executable(name: "notes-server", targets: ["notes-server"]),
    ],
    dependencies: [
        .package(name: "coral", path: "../../..", traits: ["Observability", "PostgreSQL"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.0.0"),
    ],
    targets: [
        .target(
            name: "NotesServer",
            dependencies: [
                .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
                .product(name: "CoreData", package: "coral"), .product(name: "CoralObservability", package: "coral"),
                .product(name: "CoralPostgreSQL", package: "coral"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
            ],
            plugins: [.plugin(name: "CoralModelPlugin", package: "coral")]),
        .executableTarget(name: "notes-server", dependencies: ["NotesServer"]),
        .testTarget(
            name: "NotesServerTests",
            dependencies: ["NotesServer", .product(name: "HummingbirdTesting", package: "hummingbird")]),
    ]
)
