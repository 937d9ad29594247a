import Coral
import CoralModels
import Foundation
import SwiftData

/// Works with the recipes for one request at a time. What leaves the actor are values: bytes, names, numbers.
@ModelActor
public actor RecipeStore {
    /// The names of the recipes that take at most some minutes, the quickest first.
    public func names(within minutes: Int) throws -> [String] {
        let descriptor = FetchDescriptor<Recipe>(
            predicate: #Predicate { $0.minutes <= minutes },
            sortBy: [SortDescriptor(\.minutes), SortDescriptor(\.name)])
        return try modelContext.fetch(descriptor).map(\.name)
    }

    /// A recipe with its steps as JSON; nil if there is none.
    public func recipe(named name: String) throws -> Data? {
        try find(name)?.encoded()
    }

    /// Inserts and updates recipes from JSON, all or none. Returns their number.
    public func put(_ json: Data) throws -> Int {
        let recipes = try modelContext.importModels(from: json, as: Recipe.self)
        do {
            try modelContext.save()
        } catch {
            // The next request must not save what this one could not.
            modelContext.rollback()
            throw error
        }
        return recipes.count
    }

    /// Deletes a recipe with its steps. Returns whether there was one.
    public func delete(_ name: String) throws -> Bool {
        guard let recipe = try find(name) else { return false }
        try modelContext.transaction { modelContext.delete(recipe) }
        return true
    }

    private func find(_ name: String) throws -> Recipe? {
        var descriptor = FetchDescriptor<Recipe>(predicate: #Predicate { $0.name == name })
        descriptor.fetchLimit = 1
        return try modelContext.fetch(descriptor).first
    }
}
