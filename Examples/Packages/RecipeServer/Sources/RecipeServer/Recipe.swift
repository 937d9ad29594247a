import CoralModels
import Foundation
import SwiftData

/// A recipe, with its steps.
@Model
final class Recipe {
    #Index<Recipe>([\.minutes])

    @Attribute(.unique) var name: String
    var minutes: Int
    var course: Course = Course.main
    @Relationship(deleteRule: .cascade, inverse: \Step.recipe) var steps: [Step] = []

    enum Course: String, Codable { case starter, main, dessert }

    init(name: String, minutes: Int) {
        self.name = name
        self.minutes = minutes
    }
}

/// One step of one recipe.
@Model
final class Step {
    var number: Int
    var text: String
    var recipe: Recipe?

    init(number: Int, text: String) {
        self.number = number
        self.text = text
    }
}

/// A document that is imported again changes the steps that it has, by their numbers.
extension Step: RuledModel {
    static var toolkitRules: ModelRules<Step> { ModelRules(.key(\.recipe, \.number)) }
}

extension Recipe: RuledModel {
    static var toolkitRules: ModelRules<Recipe> { ModelRules(.members(\.steps, .replace)) }
}
