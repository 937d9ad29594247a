// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that nobody who uses Coral builds what only measures it.
let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v12)],
    dependencies: [
        .package(name: "coral", path: ".."),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.0.0"),
    ],
    targets: [
        // The nine jobs of one workload, through the public API, as a user would write them.
        .executableTarget(
            name: "nine-jobs",
            dependencies: [
                .product(name: "CoreData", package: "coral"), .product(name: "Coral", package: "coral"),
            ]),
        // What `compare` runs programs with: their time and their memory, and no other's.
        .executableTarget(name: "one-run"),
        // Copies of a graph of any size: by objects, in batches, by the store, to a new store.
        .executableTarget(name: "graph-copies", dependencies: [.product(name: "Coral", package: "coral")]),
        // JSON per byte, predicates, faults, relationships: what the jobs are made of, by itself.
        .executableTarget(
            name: "pure-parts",
            dependencies: [
                .product(name: "CoreData", package: "coral"), .product(name: "Coral", package: "coral"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // What a history costs: saves with and without it, and reading it beside the same SQL by hand.
        .executableTarget(
            name: "history",
            dependencies: [
                .product(name: "CoreData", package: "coral"), .product(name: "GRDB", package: "GRDB.swift"),
            ]),
        // One access to a property, by a generated accessor and by key.
        .executableTarget(
            name: "property-access",
            dependencies: [.product(name: "CoreData", package: "coral")],
            plugins: [.plugin(name: "CoralModelPlugin", package: "coral")]),
        // What following fetched results costs at a save.
        .executableTarget(
            name: "fetched-results", dependencies: [.product(name: "CoreData", package: "coral")]),
    ],
    swiftLanguageModes: [.v6]
)
